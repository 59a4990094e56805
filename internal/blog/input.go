package blog

// PostInput is the input for a new post. IdempotencyKey is optional.
type PostInput struct {
	Title          string
	Content        string
	IdempotencyKey string
}

// Check returns BAD_USER_INPUT if the title or the content breaks a rule. It does not check the
// IdempotencyKey.
func (in PostInput) Check() error {
	if err := CheckTitle(in.Title); err != nil {
		return err
	}
	return CheckContent(in.Content)
}

// PostChange is an edit of a post. Fields that are nil stay unchanged. Version, if not nil, is
// the version that the editor saw.
type PostChange struct {
	Title   *string
	Content *string
	Version *int
}

// Check returns BAD_USER_INPUT if the title or the content breaks a rule.
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

// CommentInput is the input for a new comment. IdempotencyKey is optional.
type CommentInput struct {
	PostID         string
	Content        string
	IdempotencyKey string
}
