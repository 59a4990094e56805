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

func (i *UserItem) Bytes() int { return bytesOf[blog.User](i) }
func (i *PostItem) Bytes() int {
	return bytesOf[blog.Post](i) + sizeOf[blog.User]() + len(i.RecentComments)*commentBytes
}
func (i *ContentItem) Bytes() int     { return bytesOf[struct{}](i) }
func (i *CommentItem) Bytes() int     { return bytesOf[blog.Comment](i) + sizeOf[blog.User]() }
func (i *LikeItem) Bytes() int        { return bytesOf[blog.Like](i) + sizeOf[blog.User]() }
func (i *ReservationItem) Bytes() int { return bytesOf[struct{}](i) }
func (i *EntryItem) Bytes() int       { return bytesOf[blog.Post](i) + sizeOf[blog.User]() }
func (i *CounterItem) Bytes() int     { return bytesOf[struct{}](i) }
func (i *FeedItem) Bytes() int        { return i.PostItem.Bytes() + len(i.ArrivalDate) }
func (i *ArrivalsItem) Bytes() int    { return bytesOf[struct{}](i) }

// commentBytes is the size of a recent comment of a post.
var commentBytes = sizeOf[*blog.Comment]() + sizeOf[blog.Comment]() + sizeOf[blog.User]()

func sizeOf[T any]() int { return int(reflect.TypeFor[T]().Size()) }

// bytesOf returns the size of an item with its texts, and of a T.
func bytesOf[T, I any](item *I) int {
	return sizeOf[I]() + sizeOf[T]() + textBytes(reflect.ValueOf(item).Elem())
}

// textBytes returns the size of what the texts and lists of a value refer to.
func textBytes(v reflect.Value) (bytes int) {
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Struct:
		for i := range v.NumField() {
			switch field := v.Field(i); field.Kind() {
			case reflect.String:
				bytes += field.Len()
			case reflect.Struct, reflect.Slice:
				bytes += textBytes(field)
			}
		}
	case reflect.Slice:
		bytes = v.Len() * int(v.Type().Elem().Size())
		for i := range v.Len() {
			bytes += textBytes(v.Index(i))
		}
	}
	return bytes
}
