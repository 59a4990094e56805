package config

import (
	"fmt"
	"log/slog"
)

// telemetrySettings configure the log and the traces.
var telemetrySettings = []Setting{
	{
		Commands: []string{Serve, Projector},
		Flag:     "log-level", Env: "COSMOSBLOG_LOG_LEVEL", Default: "info",
		Meaning: "Minimum level of log lines: `error`, `warn`, `info` (adds a line for each request) or " +
			"`debug` (adds the reasons of rejected requests).",
		field: func(c *Config) any { return &c.LogLevel },
	},
	{
		Commands: []string{Serve},
		Env:      "OTEL_EXPORTER_OTLP_ENDPOINT", Default: "",
		Meaning: "URL of the collector that receives traces by OTLP over HTTP, such as " +
			"`http://127.0.0.1:4318`. If it is not set, the server sends no traces. The server also reads " +
			"OpenTelemetry's variables for the service, the sampler and headers (`OTEL_SERVICE_NAME`, " +
			"`OTEL_TRACES_SAMPLER`, `OTEL_EXPORTER_OTLP_HEADERS`). It ignores those for the protocol and for a " +
			"separate endpoint of traces.",
		field: func(c *Config) any { return &c.TracesEndpoint },
	},
}

// LogsForPeople reports whether the log is formatted for people. Production servers log for
// collectors instead.
func (c *Config) LogsForPeople() bool { return !c.isProduction() }

// Level returns the minimum level of the log. A command without the setting has slog's own
// default, info.
func (c *Config) Level() slog.Level { return logLevels[c.LogLevel] }

// logLevels maps the values of --log-level to levels.
var logLevels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

func (c *Config) checkLogLevel() error {
	if _, ok := logLevels[c.LogLevel]; !ok {
		return fmt.Errorf("--log-level must be debug, info, warn or error, not %q", c.LogLevel)
	}
	return nil
}

func (c *Config) checkTraces() error {
	if c.TracesEndpoint == "" {
		return nil
	}
	if _, ok := parseHTTP(c.TracesEndpoint); !ok {
		return fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT must be a URL like http://127.0.0.1:4318, not %q", c.TracesEndpoint)
	}
	return nil
}
