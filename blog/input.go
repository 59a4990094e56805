package blog

// PostInput is the input for a new post. Tags and IdempotencyKey are optional.
type PostInput struct {
	Title          string
	Content        string
	Tags           []string
	IdempotencyKey string
}

// Head returns the head of the post, without what follows from the content.
func (in PostInput) Head() PostHead { return PostHead{Title: in.Title, Tags: in.Tags} }

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

// Head returns the head of a post after the edit.
func (c PostChange) Head(before PostHead) PostHead {
	if c.Title != nil {
		before.Title = *c.Title
	}
	if c.Tags != nil {
		before.Tags = append([]string(nil), c.Tags...) // nil if there are none
	}
	if c.Content != nil {
		before.SetContent(*c.Content)
	}
	return before
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
