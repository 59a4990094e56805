package monitor

import (
	"context"
	"errors"

	"cosmosblog/internal/telemetry"
	"cosmosblog/store/cosmos"
)

// checkAccount returns an error if the account was changed since the process began, to settings
// with which the store would be wrong (cosmos.DB.CheckAccount). It logs that once.
func (m *monitor) checkAccount(ctx context.Context) (any, error) {
	reason := m.unusable(ctx)
	m.accountMu.Lock()
	defer m.accountMu.Unlock()
	if reason != m.saidOfAccount && reason != "" {
		m.Logger.Error("the account cannot be used any more", "reason", reason)
	}
	if m.saidOfAccount = reason; reason != "" {
		return nil, errors.New("the account cannot be used: " + reason)
	}
	return nil, nil
}

// unusable returns why the account cannot be used, or "".
func (m *monitor) unusable(ctx context.Context) string {
	if err, ok := errors.AsType[*cosmos.AccountError](m.DB.CheckAccount(ctx)); ok {
		return err.Reason
	}
	return ""
}

// accountMetric is 1 while the account cannot be used.
func (m *monitor) accountMetric() telemetry.Metric {
	return telemetry.Metric{
		Name: "cosmosblog_account_unusable",
		Help: "1 if the consistency level or the write regions of the account make it unusable, otherwise 0.",
		Read: func() ([]telemetry.Value, error) {
			if m.unusable(m.life) != "" {
				return []telemetry.Value{{Value: 1}}, nil
			}
			return []telemetry.Value{{Value: 0}}, nil
		},
	}
}
