package chores

import (
	"context"

	"cosmosblog/store/cosmos"
)

// transactionSize is the number of items that the next transaction of a step may change, so that no
// transaction is charged much. The service blocks a script that is charged about two seconds of its
// container's throughput several times, that is from 800 RU on, as a container may have only 400
// RU/s. A program cannot know the throughput: with Entra ID it cannot be read, and a serverless
// account has none. It is not safe for concurrent use.
type transactionSize struct{ next, most int }

const (
	// firstTransactionSize is the number of items of a first transaction, whose charge is unknown.
	firstTransactionSize = 20

	// transactionCharge is the charge in RU that the next transactions aim at. None is charged more
	// than twice of it.
	transactionCharge = 200
)

func newTransactionSize(most int) *transactionSize {
	return &transactionSize{firstTransactionSize, most}
}

// items returns the number of items for the next transaction, at least 1.
func (s *transactionSize) items() int { return s.next }

// charged executes a transaction, which returns the number of items that it changed. The size of
// the next one follows from its charge.
func (s *transactionSize) charged(ctx context.Context, transaction func(context.Context) (items int, err error)) error {
	ctx, meter := cosmos.Metered(ctx)
	n, err := transaction(ctx)
	if charge := meter.Charged(); err == nil && n > 0 && charge > 0 {
		s.next = min(max(1, int(float64(n)*transactionCharge/charge)), 2*s.next, s.most)
	}
	return err
}
