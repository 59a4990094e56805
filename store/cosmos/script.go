package cosmos

// Script is a stored procedure or a trigger as it is registered. Its id carries its version, the beginning of a hash of
// its text: a script is never changed under a server that still uses it, and several versions stand side by side.
type Script struct {
	ID        string
	Container string
	Body      string
	Trigger   bool // behind writes (post) of any kind (all); otherwise a stored procedure
}

// kind is the script's part in a link.
func (s Script) kind() string {
	if s.Trigger {
		return "triggers"
	}
	return "sprocs"
}

// ScriptDefinition is a script as an account keeps it.
type ScriptDefinition struct {
	ID        string `json:"id"`
	Body      string `json:"body"`
	Type      string `json:"triggerType,omitempty"` // of triggers alone, as is the operation
	Operation string `json:"triggerOperation,omitempty"`
}

func (s Script) Definition() ScriptDefinition {
	d := ScriptDefinition{ID: s.ID, Body: s.Body}
	if s.Trigger {
		d.Type, d.Operation = "Post", "All"
	}
	return d
}

// Label names the script to a person.
func (s Script) Label() string {
	if s.Trigger {
		return "trigger " + s.ID
	}
	return "stored procedure " + s.ID
}
