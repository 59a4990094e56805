package audit

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
	"cosmosblog/store/views"
)

// copyDrifts compares a copy with the one that the projection would write of its post, property by
// property. If only one of the two is deleted, that is the only drift.
func copyDrifts(view views.PostView, copy, post *auditedItem) []Drift {
	var drifts []Drift
	differ := func(field string, is, should any) {
		d := copy.drift(DriftCopy, view.Container, view.Partition).withValues(field, is, should)
		d.isLater = copy.Revision > post.Revision
		drifts = append(drifts, d.withSource(post.ETag))
	}
	if copy.Unlisted {
		differ("unlisted", true, false)
	}
	if copy.Deleted != post.Deleted {
		differ("deleted", copy.Deleted, post.Deleted)
		return drifts
	}
	text, err := cosmos.EncodeItem(view.CopyOf(post.ViewSource()))
	if err != nil {
		differ("", err, "")
		return drifts
	}
	should := newAuditedItem(text)
	names := maps.Clone(should.properties())
	maps.Copy(names, copy.properties())
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !copy.isAsIn(should, name, view.Container) {
			differ(name, copy.text(name), should.text(name))
		}
	}
	return drifts
}

// isAsIn reports whether a property of a copy is as in the copy that the projection would write, or
// one that the projection leaves alone.
func (i *auditedItem) isAsIn(should *auditedItem, name, container string) bool {
	switch {
	case strings.HasPrefix(name, "_"): // the service's own
		return true
	case name == "arrivalDate": // arrivalDrifts
		return true
	case name == "ttl" && i.Deleted && i.TTL <= 0: // expiryDrift
		return true
	case name == "tags" && len(i.Tags) == 0 && len(should.Tags) == 0: // absent, or empty after an edit
		return string(i.properties()[name]) != "null"
	case name == "unlisted", i.Unlisted && (name == "formerLists" || name == "ttl"): // one drift
		return !i.has(name) || i.Unlisted
	case name == "revision" && (i.Deleted || container == schema.Lists): // that of the deletion, or the last edit
		return i.has(name) && i.Revision <= should.Revision
	}
	var a, b any
	is, wanted := i.properties()[name], should.properties()[name]
	if is == nil || wanted == nil || json.Unmarshal(is, &a) != nil || json.Unmarshal(wanted, &b) != nil {
		return is == nil && wanted == nil
	}
	return reflect.DeepEqual(a, b)
}
