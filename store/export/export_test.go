package export

// SetBefore sets a function that is called before every change of the folder. If it returns an
// error, the export ends there, as if it was killed.
func SetBefore(o *Options, before func(step string) error) { o.before = before }
