// Package models measures the three models of Microsoft's article "How to model and partition data
// on Azure Cosmos DB using a real-world example", and that of this project, side by side:
//
//	v1  users and posts, without copies: usernames and counts are looked up
//	v2  usernames and counts on posts, comments and likes
//	v3  short copies of posts in users and feed
//	v4  the model of this project. It is package store itself
//
// All models implement Model, hold the same data (package seed) and must return equal results at
// every query. One piece of code measures and compares them (Measure). V1, V2 and V3 exist only
// here.
package models

import (
	"context"

	"cosmosblog/blog"
	"cosmosblog/store/seed"
)

// Model is the article's ten operations on one model, each as a client would send it. Lists have
// at most blog.MaxPageSize elements, newest first, except comments, which are oldest first.
// Errors: those of package store. The methods may be called concurrently, except Load and Follow.
type Model interface {
	// Load writes a data set into a new database.
	Load(ctx context.Context, set *seed.Set) error
	// Follow brings the copies of the model up to date with its change feeds.
	Follow(ctx context.Context) error

	CreateUser(ctx context.Context, userID, username string) (*blog.User, error) // C1
	RenameUser(ctx context.Context, userID, username string) error               // C1

	User(ctx context.Context, userID string) (*blog.User, error) // Q1

	CreatePost(ctx context.Context, author *blog.User, title, content string) (*blog.Post, error) // C2

	// Post returns a post with its author's username, its content and its counts (Q2).
	Post(ctx context.Context, postID string) (*blog.Post, error)

	// UserPosts lists a user's posts in short form: without the content (Q3).
	UserPosts(ctx context.Context, userID string) ([]*blog.Post, error)

	CreateComment(ctx context.Context, author *blog.User, postID, content string) (*blog.Comment, error) // C3

	// Comments lists a post's comments with the usernames of their authors (Q4).
	Comments(ctx context.Context, postID string) ([]*blog.Comment, error)

	LikePost(ctx context.Context, user *blog.User, postID string) error // C4

	// Likes lists a post's likes with usernames (Q5).
	Likes(ctx context.Context, postID string) ([]*blog.Like, error)

	// Feed lists the most recent posts in short form (Q6).
	Feed(ctx context.Context) ([]*blog.Post, error)
}
