package plot

import (
	"encoding/xml"
	"io"
	"math"
	"strings"
	"testing"
)

// TestPlotIsWellFormed requires XML with one mark for each value, inside of the axis.
func TestPlotIsWellFormed(t *testing.T) {
	for _, isLog := range []bool{true, false} {
		p := &Plot{Title: "a < b & c", IsLog: isLog, Names: []string{"one", "two"}, Rows: []Row{
			{"first \"row\"", []float64{1200, 40_000}}, {"second", []float64{math.NaN(), 5}},
		}}
		marks := 0
		for decoder := xml.NewDecoder(strings.NewReader(p.SVG())); ; {
			token, err := decoder.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, p.SVG())
			}
			if element, ok := token.(xml.StartElement); ok && element.Name.Local == "title" {
				marks++
			}
		}
		if marks != 3 {
			t.Errorf("the plot has %d marks, want 3", marks)
		}
		_, position := p.axis()
		for _, value := range []float64{5, 1200, 40_000} {
			if x := position(value); x < left || x > right {
				t.Errorf("%v is at %v", value, x)
			}
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		got  []float64
		want string
	}{
		{linearTicks(1.13), "0 0.2 0.4 0.6 0.8 1 1.2"},
		{linearTicks(535), "0 100 200 300 400 500 600"},
		{linearTicks(1000), "0 200 400 600 800 1,000"},
		{logTicks(120, 26_000), "100 200 500 1,000 2,000 5,000 10,000 20,000 50,000"},
		{logTicks(100, 100), "100 200"},
		{logTicks(0.7, 3), "0.5 1 2 5"},
	} {
		var texts []string
		for _, tick := range c.got {
			texts = append(texts, tickText(tick))
		}
		if got := strings.Join(texts, " "); got != c.want {
			t.Errorf("got the ticks %s, want %s", got, c.want)
		}
	}
}

func TestNumber(t *testing.T) {
	for value, want := range map[float64]string{
		0.123: "0.12", 1.5: "1.50", 12.34: "12.3", 123.4: "123", 1234: "1,230", 9996: "10,000", 123456: "123,500",
		1234567: "1,234,600", math.NaN(): "–",
	} {
		if got := Number(value); got != want {
			t.Errorf("%v is written as %s, want %s", value, got, want)
		}
	}
}
