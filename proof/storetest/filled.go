package storetest

import (
	"fmt"
	"reflect"

	"cosmosblog/blog"
)

// Filled returns a struct whose fields all have different values that are not zero, also those of
// the structs that it has or points to. A new field of an item or of package blog is therefore in
// the tests of everything that copies such a struct. Slices have one element. Posts are not filled
// where a comment or a like refers to one.
func Filled[T any]() (filled T) {
	n := 0
	fill(reflect.ValueOf(&filled).Elem(), "Filled", &n)
	return filled
}

func fill(v reflect.Value, name string, n *int) {
	*n++
	switch v.Interface().(type) {
	case blog.DateTime:
		first := blog.DateTime("2026-11-20T09:00:00.000000Z").Time()
		v.SetString(string(blog.NewDateTime(first.AddDate(0, 0, *n))))
		return
	case *blog.Post:
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint(name, *n))
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(100 + *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), name, n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), name, n)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), name, n)
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				fill(v.Field(i), field.Name, n)
			}
		}
	default:
		panic("no value for the type of " + name)
	}
}

// EmptyFields returns the names of the fields of a struct that are zero.
func EmptyFields(value any) (empty []string) {
	v := reflect.ValueOf(value)
	for _, field := range reflect.VisibleFields(v.Type()) {
		if !field.Anonymous && v.FieldByIndex(field.Index).IsZero() {
			empty = append(empty, field.Name)
		}
	}
	return empty
}
