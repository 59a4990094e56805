package provision

import (
	"reflect"
	"testing"
)

func TestParseThroughputs(t *testing.T) {
	manual400, autoscale4000 := throughput{manual, 400}, throughput{autoscale, 4000}
	for _, c := range []struct {
		text string
		want Throughputs
	}{
		{"", Throughputs{}},
		{"serverless", Throughputs{fallback: throughput{kind: serverless}}},
		{"manual:400", Throughputs{fallback: manual400}},
		{"database=autoscale:4000", Throughputs{database: autoscale4000}},
		{"posts=autoscale:4000,database=manual:400",
			Throughputs{database: manual400, containers: map[string]throughput{"posts": autoscale4000}}},
		{"manual:400,posts=autoscale:4000",
			Throughputs{fallback: manual400, containers: map[string]throughput{"posts": autoscale4000}}},
		{"posts=autoscale:4000,users=manual:400",
			Throughputs{containers: map[string]throughput{"posts": autoscale4000, "users": manual400}}},
	} {
		got, err := ParseThroughputs(c.text)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: got %+v, %v", c.text, got, err)
		}
	}
}
