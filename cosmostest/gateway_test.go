package cosmostest_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"cosmosblog/cosmostest"
)

// at449 is the header with which the gateway does not repeat a request.
const at449 = "x-ms-noretry-449: True"

// TestGatewayHolds449 checks that a 449 is answered at once only if the request says so. Otherwise,
// the service's gateway repeats the request for up to 30 s: GatewayStoreModel.DispatchAsync of
// azure-cosmos-dotnet-v3 (pull request 5990), and azure-sdk-for-java (pull request 49332).
func TestGatewayHolds449(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, cosmostest.Options{})
		s.Inject(cosmostest.Refuse(449))
		begun := time.Now()
		wantStatus(t, "without the header", s.tryPut("ada", "1"), 449)
		if took := time.Since(begun); took != 30*time.Second {
			t.Errorf("a 449 came after %v", took)
		}
		begun = time.Now()
		s.expect(449, s.rest("POST", docs, string(order("ada", "1")), of("ada"), at449))
		if took := time.Since(begun); took != 0 {
			t.Errorf("with the header, a 449 came after %v", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.transport.Send(ctx, "POST", docs, "{}", of("ada")); err != context.DeadlineExceeded {
			t.Errorf("a cancelled request: %v", err)
		}
	})
}

// TestGatewayRepeatsScripts checks that the account repeats a script that met a conflict, until
// none is in its way or 30 s have passed.
func TestGatewayRepeatsScripts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conflicts, executions := 3, 0
		var other *client
		s := newShop(t, cosmostest.Options{Scripts: cosmostest.Scripts{Snapshot: true, Before: func(n int) {
			if n != 2 {
				return
			}
			if executions++; executions <= conflicts {
				other.put("ada", "1", `"n":1`)
			}
		}}})
		other = newClient(t, s.NewTransport())
		s.put("ada", "1")
		s.register("touch", `function () {
			__.readDocument(__.getAltLink() + '/docs/1', function (err, order) {
				if (err) throw err;
				__.replaceDocument(order._self, order, function (err) { if (err) throw err });
			});
		}`)
		begun := time.Now()
		s.expect(http.StatusOK, s.execute("touch", "ada", "[]"))
		if took := time.Since(begun); executions != 4 || took != 70*time.Millisecond {
			t.Errorf("%d executions in %v", executions, took)
		}
		conflicts, executions = 1000, 0
		s.expect(449, s.execute("touch", "ada", "[]"))
		if took := time.Since(begun); executions < 20 || took < 28*time.Second || took > 31*time.Second {
			t.Errorf("%d executions in %v", executions, took)
		}
		executions = 0
		s.expect(449, s.rest("POST", sprocs+"/touch", "[]", of("ada"), at449))
		if executions != 1 {
			t.Errorf("with the header, %d executions", executions)
		}
	})
}
