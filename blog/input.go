package blog

// PostInput is the input for a new post. Tags and IdempotencyKey are optional.
type PostInput struct {
	Title          string
	Content        string
	Tags           []string
	IdempotencyKey string
}

// Check returns one BAD_USER_INPUT for each field that breaks a rule. An empty IdempotencyKey means
// that there is none.
func (in PostInput) Check() error {
	return JoinFields(
		AtField(CheckTitle(in.Title), "title"),
		AtField(CheckContent(in.Content), "content"),
		checkTags(in.Tags),
		checkKey(in.IdempotencyKey))
}

// PostChange is an edit of a post. Fields that are nil stay unchanged; empty Tags that are not nil
// remove all tags. Version, if not nil, is the version that the editor saw.
type PostChange struct {
	Title   *string
	Content *string
	Tags    []string
	Version *int
}

// Check returns one BAD_USER_INPUT for each field that breaks a rule.
func (c PostChange) Check() error {
	var title, content error
	if c.Title != nil {
		title = AtField(CheckTitle(*c.Title), "title")
	}
	if c.Content != nil {
		content = AtField(CheckContent(*c.Content), "content")
	}
	return JoinFields(title, content, checkTags(c.Tags))
}

// CommentInput is the input for a new comment. IdempotencyKey is optional.
type CommentInput struct {
	PostID         string
	Content        string
	IdempotencyKey string
}

// Check returns one BAD_USER_INPUT for each field that breaks a rule. It does not check the PostID.
// An empty IdempotencyKey means that there is none.
func (in CommentInput) Check() error {
	return JoinFields(AtField(CheckComment(in.Content), "content"), checkKey(in.IdempotencyKey))
}

func checkKey(key string) error {
	if key == "" {
		return nil
	}
	return AtField(CheckIdempotencyKey(key), "idempotencyKey")
}
