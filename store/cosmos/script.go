package cosmos

import "github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

// Script is a stored procedure or trigger to register. Its id contains a version: the beginning
// of a hash of its text. A new version therefore never replaces a script that a server uses, and
// several versions can be registered at once.
type Script struct {
	ID        string
	Container string
	Body      string
	Trigger   bool // a post-trigger for all operations; otherwise a stored procedure
}

// kind is the segment of the script's link that names its kind.
func (s Script) kind() string {
	if s.Trigger {
		return "triggers"
	}
	return "sprocs"
}

// ScriptDefinition is a script as the account stores it.
type ScriptDefinition struct {
	ID        string `json:"id"`
	Body      string `json:"body"`
	Type      string `json:"triggerType,omitempty"` // triggers only, like Operation
	Operation string `json:"triggerOperation,omitempty"`
}

// Definition returns the script as the account stores it.
func (s Script) Definition() ScriptDefinition {
	d := ScriptDefinition{ID: s.ID, Body: s.Body}
	if s.Trigger {
		d.Type, d.Operation = "Post", "All"
	}
	return d
}

// Label names the script in messages.
func (s Script) Label() string {
	if s.Trigger {
		return "trigger " + s.ID
	}
	return "stored procedure " + s.ID
}

// WithTrigger returns the options of a write that runs a trigger after it. The write asks for the
// written item. Otherwise the trigger does not see it either (azure-docs issue 98273).
func WithTrigger(trigger Script) *azcosmos.ItemOptions {
	return &azcosmos.ItemOptions{PostTriggers: []string{trigger.ID}, EnableContentResponseOnWrite: true}
}
