package blog

// PostInput is a new post. IdempotencyKey is empty where the client gave none.
type PostInput struct {
	Title          string
	Content        string
	IdempotencyKey string
}

// Check holds the input to the rules. Error: BAD_USER_INPUT. An empty IdempotencyKey is none.
func (in PostInput) Check() error {
	if err := CheckTitle(in.Title); err != nil {
		return err
	}
	return CheckContent(in.Content)
}

// PostChange is an edit: what is nil stays. Version, where given, is the version that the editor saw.
type PostChange struct {
	Title   *string
	Content *string
	Version *int
}

// Check holds the change to the rules. Error: BAD_USER_INPUT.
func (c PostChange) Check() error {
	if c.Title != nil {
		if err := CheckTitle(*c.Title); err != nil {
			return err
		}
	}
	if c.Content != nil {
		return CheckContent(*c.Content)
	}
	return nil
}

// CommentInput is a new comment.
type CommentInput struct {
	PostID         string
	Content        string
	IdempotencyKey string
}
