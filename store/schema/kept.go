package schema

import (
	"reflect"

	"cosmosblog/blog"
)

// The methods of this file are for the cache of reads.
//
// Address returns the partition and the id of an item. Bytes returns its size in memory: its
// fields, the texts they refer to, and the object of package blog that is made from it. Expires
// reports whether the item has a time to live.

func (i *UserItem) Address() (partition, id string)        { return i.UserID, i.ID }
func (i *PostItem) Address() (partition, id string)        { return i.PostID, i.ID }
func (i *ContentItem) Address() (partition, id string)     { return i.PostID, i.ID }
func (i *CommentItem) Address() (partition, id string)     { return i.PostID, i.ID }
func (i *LikeItem) Address() (partition, id string)        { return i.PostID, i.ID }
func (i *ReservationItem) Address() (partition, id string) { return i.ID, i.ID }
func (i *EntryItem) Address() (partition, id string)       { return string(i.List), i.ID }
func (i *CounterItem) Address() (partition, id string)     { return string(i.List), i.ID }
func (i *FeedItem) Address() (partition, id string)        { return FeedPartition, i.ID }
func (i *ArrivalsItem) Address() (partition, id string)    { return FeedPartition, HorizonID }

func (i *UserItem) Expires() bool        { return i.TTL > 0 }
func (i *PostItem) Expires() bool        { return i.TTL > 0 }
func (i *ContentItem) Expires() bool     { return false }
func (i *CommentItem) Expires() bool     { return i.TTL > 0 }
func (i *LikeItem) Expires() bool        { return false }
func (i *ReservationItem) Expires() bool { return false }
func (i *EntryItem) Expires() bool       { return false }
func (i *CounterItem) Expires() bool     { return false }
func (i *ArrivalsItem) Expires() bool    { return false }

var (
	userBytes        = sizeOf[UserItem]() + sizeOf[blog.User]()
	postBytes        = sizeOf[PostItem]() + sizeOf[blog.Post]() + sizeOf[blog.User]()
	contentBytes     = sizeOf[ContentItem]()
	commentBytes     = sizeOf[CommentItem]() + sizeOf[blog.Comment]() + sizeOf[blog.User]()
	recentBytes      = sizeOf[RecentComment]() + sizeOf[*blog.Comment]() + sizeOf[blog.Comment]() + sizeOf[blog.User]()
	likeBytes        = sizeOf[LikeItem]() + sizeOf[blog.Like]() + sizeOf[blog.User]()
	reservationBytes = sizeOf[ReservationItem]()
	entryBytes       = sizeOf[EntryItem]() + sizeOf[blog.Post]() + sizeOf[blog.User]()
	counterBytes     = sizeOf[CounterItem]()
)

func sizeOf[T any]() int { return int(reflect.TypeFor[T]().Size()) }

func (i *UserItem) Bytes() int {
	return userBytes + len(i.ID) + len(i.UserID) + len(i.Type) + len(i.Username) + len(i.PendingUsername) + len(i.CreationDate)
}

func (i *PostItem) Bytes() int {
	bytes := postBytes + len(i.ID) + len(i.PostID) + len(i.UserID) + len(i.Type) + len(i.UserUsername) + len(i.Title) +
		len(i.Content) + len(i.Excerpt) + len(i.LastCommentDate) + len(i.CreationDate) + len(i.SortKey) + len(i.UpdatedDate) + len(i.InputHash) + len(i.AuthorID)
	for n := range i.RecentComments {
		c := &i.RecentComments[n]
		bytes += recentBytes + len(c.ID) + len(c.UserID) + len(c.UserUsername) + len(c.Excerpt) + len(c.CreationDate) + len(c.UpdatedDate)
	}
	return bytes + textsBytes(i.Edits) + textsBytes(i.Tags)
}

func textsBytes(texts []string) (bytes int) {
	for _, text := range texts {
		bytes += sizeOf[string]() + len(text)
	}
	return bytes
}

func (i *EntryItem) Bytes() int {
	return entryBytes + len(i.ID) + len(i.List) + len(i.PostID) + len(i.UserID) + len(i.Type) + len(i.UserUsername) +
		len(i.Title) + len(i.Excerpt) + len(i.CreationDate) + len(i.SortKey) + len(i.UpdatedDate) + textsBytes(i.Tags)
}

func (i *CounterItem) Bytes() int { return counterBytes + len(i.ID) + len(i.List) + len(i.Type) }

func (i *ContentItem) Bytes() int {
	return contentBytes + len(i.ID) + len(i.PostID) + len(i.Type) + len(i.Content)
}

func (i *CommentItem) Bytes() int {
	return commentBytes + len(i.ID) + len(i.PostID) + len(i.Type) + len(i.UserID) + len(i.UserUsername) + len(i.Content) +
		len(i.Excerpt) + len(i.CreationDate) + len(i.SortKey) + len(i.UpdatedDate) + len(i.InputHash) + len(i.AuthorID)
}

func (i *LikeItem) Bytes() int {
	return likeBytes + len(i.ID) + len(i.PostID) + len(i.Type) + len(i.UserID) + len(i.UserUsername) + len(i.CreationDate) + len(i.SortKey)
}

func (i *ReservationItem) Bytes() int {
	return reservationBytes + len(i.ID) + len(i.UserID) + len(i.CreationDate)
}

func (i *FeedItem) Bytes() int { return i.PostItem.Bytes() + len(i.ArrivalDate) }

func (i *ArrivalsItem) Bytes() int {
	return sizeOf[ArrivalsItem]() + len(i.LastArrival) + len(i.TrimmedArrival)
}
