package conformance

import (
	"flag"
	"os"
	"os/exec"
	"testing"

	"cosmosblog/cosmostest"
)

var javascriptFlag = flag.Bool("javascript", false,
	"run the tests of the JavaScript SDK, which need Node.js and its packages (npm ci in the folder javascript)")

// TestJavaScript runs the tests of the JavaScript SDK against the configured account, or an account
// of cosmostest.
func TestJavaScript(t *testing.T) {
	if !*javascriptFlag {
		t.Skip("without -javascript")
	}
	command := exec.CommandContext(t.Context(), "npm", "test", "--prefix", "javascript", "--silent")
	if command.Env = os.Environ(); !isConfigured() {
		endpoint, key := cosmostest.New(t, cosmostest.Options{}).Serve()
		command.Env = append(command.Env, "COSMOS_CONFORMANCE_ENDPOINT="+endpoint, "COSMOS_CONFORMANCE_KEY="+key,
			"COSMOS_CONFORMANCE_ENGINE=1")
	}
	output, err := command.CombinedOutput()
	if t.Logf("%s", output); err != nil {
		t.Error(err)
	}
}
