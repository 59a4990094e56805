package query

import (
	"fmt"
	"testing"

	"cosmosblog/engine/value"
)

// BenchmarkRun binds and runs the most frequent queries of the store over a page of parsed
// comments.
func BenchmarkRun(b *testing.B) {
	documents := make([]Document, 20)
	for i := range documents {
		text := fmt.Sprintf(`{"id":"c_%020d","postId":"p_1","type":"comment","userId":"u_1","userUsername":"ada","authorRevision":1,
			"content":"%0200d","creationDate":"2026-11-20T09:15:%02d.000000Z","deleted":false,"_rid":"x","_etag":"y","_ts":1}`, i, i, i)
		documents[i] = Document{Text: []byte(text), Root: mustJSON(b, text)}
	}
	p := Parameters{"@date": value.String("2026-11-20T09:16:00.000000Z"), "@id": value.String("c_"), "@n": value.Number(21)}
	for name, text := range map[string]string{
		"page": "SELECT TOP @n * FROM c WHERE c.type = 'comment' AND c.deleted = false AND c.creationDate <= @date AND " +
			"(c.creationDate < @date OR c.id < @id) ORDER BY c.type, c.creationDate, c.id",
		"projection": "SELECT TOP @n c.id, c.userId, c.userUsername, c.content, c.creationDate FROM c WHERE c.type = 'comment'",
		"count":      "SELECT VALUE COUNT(1) FROM c WHERE c.type = 'comment'",
		"sort":       "SELECT * FROM c WHERE c.type = 'comment' ORDER BY c.creationDate DESC",
	} {
		q := mustParse(b, text)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bound, err := q.Bind(p)
				if err != nil {
					b.Fatal(err)
				}
				next := 0
				rows := bound.Run(func() (Document, bool, error) {
					if next == len(documents) {
						return Document{}, false, nil
					}
					next++
					return documents[next-1], true, nil
				}, name == "page", Progress{})
				for {
					if _, ok, err := rows.Next(); !ok || err != nil {
						break
					}
				}
			}
		})
	}
	b.Run("documents", func(b *testing.B) { // the cost of parsing the documents, for comparison
		b.ReportAllocs()
		for b.Loop() {
			for _, doc := range documents {
				if _, err := value.Parse(doc.Text); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		mustParse(b, "SELECT TOP @n * FROM c WHERE c.type = 'comment' AND c.creationDate <= @date AND "+
			"(c.creationDate < @date OR c.id < @id) ORDER BY c.type, c.creationDate, c.id")
	}
}

// BenchmarkReadMany evaluates the query of a read of many items over those items.
func BenchmarkReadMany(b *testing.B) {
	for _, n := range []int{20, 100, 1000} {
		text, p := "SELECT * FROM c WHERE ", Parameters{}
		documents := make([]Document, n)
		for i := range n {
			if i > 0 {
				text += " OR "
			}
			id := value.String(fmt.Sprintf("p_%020d", i))
			idName, keyName := fmt.Sprintf("@param_id%d", i), fmt.Sprintf("@param_pk%d0", i)
			text += fmt.Sprintf("(c.id = %s AND c.postId = %s)", idName, keyName)
			p[idName], p[keyName] = id, id
			documents[i].Root = value.Object([]string{"id", "postId"}, []value.Value{id, id})
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bound, err := mustParse(b, text).Bind(p)
				if err != nil {
					b.Fatal(err)
				}
				bound.Disjuncts()
				for _, doc := range documents {
					if !bound.Matches(doc.Root) {
						b.Fatal("an item does not match")
					}
				}
			}
		})
	}
}
