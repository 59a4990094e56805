package provision

import (
	"reflect"
	"testing"
)

func TestParseThroughputs(t *testing.T) {
	manual400, autoscale4000 := throughput{manual, 400}, throughput{autoscale, 4000}
	for _, c := range []struct {
		text   string
		shared bool
		want   Throughputs
	}{
		{"", false, Throughputs{}},
		{"serverless", false, Throughputs{fallback: throughput{kind: serverless}}},
		{"manual:400", false, Throughputs{fallback: manual400}},
		{"autoscale:4000", true, Throughputs{fallback: autoscale4000, shared: true}},
		{"manual:400,posts=autoscale:4000", false,
			Throughputs{fallback: manual400, containers: map[string]throughput{"posts": autoscale4000}}},
		{"posts=autoscale:4000,users=manual:400", false,
			Throughputs{containers: map[string]throughput{"posts": autoscale4000, "users": manual400}}},
	} {
		got, err := ParseThroughputs(c.text, c.shared)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q, %t: got %+v, %v", c.text, c.shared, got, err)
		}
	}
}
