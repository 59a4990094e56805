package config

import (
	"fmt"
	"log/slog"
)

// telemetrySettings are those of what a process tells of itself.
var telemetrySettings = []Setting{
	{
		Commands: []string{Serve, Projector},
		Flag:     "log-level", Env: "COSMOSBLOG_LOG_LEVEL", Default: "info",
		Meaning: "What the log holds: `error`, `warn` and the former, `info` and the former (a line for each request), or `debug` and all of these (why requests were refused).",
		field:   func(c *Config) any { return &c.LogLevel },
	},
	{
		Commands: []string{Serve},
		Env:      "OTEL_EXPORTER_OTLP_ENDPOINT", Default: "",
		Meaning: "Where traces are sent, by OTLP over HTTP: a collector's address such as `http://127.0.0.1:4318`. Without it, there are none. Of OpenTelemetry's other variables, those of the service, of the sampler and of headers (`OTEL_SERVICE_NAME`, `OTEL_TRACES_SAMPLER`, `OTEL_EXPORTER_OTLP_HEADERS`) hold too; the endpoint of traces alone and the protocol do not.",
		field:   func(c *Config) any { return &c.TracesEndpoint },
	},
}

// LogsForPeople tells whether people read the log, and not what collects those of servers that are there for others.
func (c *Config) LogsForPeople() bool { return !c.public() }

// Level is the least that the log holds.
func (c *Config) Level() slog.Level { return logLevels[c.LogLevel] }

// logLevels are the levels by name; a command without the setting has slog's own, info.
var logLevels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

func (c *Config) checkLogLevel() error {
	if _, ok := logLevels[c.LogLevel]; !ok {
		return fmt.Errorf("--log-level is debug, info, warn or error, not %q", c.LogLevel)
	}
	return nil
}

func (c *Config) checkTraces() error {
	if c.TracesEndpoint == "" {
		return nil
	}
	if _, ok := parseHTTP(c.TracesEndpoint); !ok {
		return fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT is not an address like http://127.0.0.1:4318: %q", c.TracesEndpoint)
	}
	return nil
}
