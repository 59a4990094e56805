package cosmos_test

import (
	"encoding/json"
	"testing"
	"unicode"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/proof/storetest"
	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// TestPartitionKeys writes and reads an item by azcosmos, and by a stored procedure, in partitions
// of rare characters. The account takes the key as JSON in ASCII only (azure-sdk-for-java pull
// request 47881: the gateway rejects other bytes in the header).
func TestPartitionKeys(t *testing.T) {
	w := storetest.New(t)
	script := cosmos.Script{ID: "createItem", Container: schema.Lists, Body: `function createItem(item) {
		__.createDocument(__.getAltLink(), item, (err) => { if (err) throw err; });
		getContext().getResponse().setBody(item.list);
	}`}
	if _, err := w.DB.RegisterScript(w.Ctx(), script); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{
		"𠮷野家", "𐌰𐌱𐌲", "𝔞𝕓𝒸", "привет", "ελλάδα", "한국어", "हिन्दी", "العربية",
		"\"\\/\b\f\n\r\t", "\a\v\x00\x1f\x7f", "\u2028\ufeff\U000e0001\U0010ffff", `\U00020bb7\x41`, "<&>'",
	} {
		w.Wire.Inject(nil)
		type item struct {
			ID   string `json:"id"`
			List string `json:"list"`
		}
		if _, err := cosmos.Create(w.Ctx(), w.Container(schema.Lists), key, item{"one", key}); err != nil {
			t.Errorf("%q: %v", key, err)
		}
		var answer string
		if _, err := w.DB.Execute(w.Ctx(), script, key, item{"two", key}, &answer); err != nil || answer != key {
			t.Errorf("%q: the procedure answered %q: %v", key, answer, err)
		}
		for _, id := range []string{"one", "two"} {
			read, _, err := cosmos.Read[item](w.Ctx(), w.Container(schema.Lists), key, id)
			if err != nil || read.List != key {
				t.Errorf("%q: read %v: %v", key, read, err)
			}
		}
		pager := w.Container(schema.Lists).NewQueryItemsPager("SELECT * FROM c", azcosmos.NewPartitionKeyString(key), nil)
		page, err := pager.NextPage(w.Ctx())
		if err != nil || len(page.Items) != 2 {
			t.Errorf("%q: the query found %d items: %v", key, len(page.Items), err)
		}
		for _, request := range w.Wire.Requests() {
			var sent []string
			header := request.Header.Get(cosmos.PartitionKeyHeader)
			if err := json.Unmarshal([]byte(header), &sent); err != nil || len(sent) != 1 || sent[0] != key {
				t.Errorf("%q: the header is %s: %v", key, header, err)
			}
			for _, c := range header {
				if c > unicode.MaxASCII {
					t.Errorf("%q: the header %q is not ASCII", key, header)
					break
				}
			}
		}
	}
}
