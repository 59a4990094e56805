package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cosmosblog/internal/limits"
)

// limitSettings are the limits that serve holds its clients to.
var limitSettings = []Setting{
	limit("max-connections", "Connections at once. Others wait until one ends.", func(l *limits.Limits) any { return &l.Connections }),
	limit("max-header-bytes", "Bytes of a request's line and headers.", func(l *limits.Limits) any { return &l.HeaderBytes }),
	limit("header-timeout", "How long a request's headers may take to arrive.", func(l *limits.Limits) any { return &l.HeaderTime }),
	limit("read-timeout", "How long a whole request may take to arrive.", func(l *limits.Limits) any { return &l.ReadTime }),
	limit("write-timeout", "How long body, operation and answer may take together, once the headers are there: not less than `--read-timeout` and `--timeout`.",
		func(l *limits.Limits) any { return &l.WriteTime }),
	limit("idle-timeout", "How long a connection may be idle between two requests.", func(l *limits.Limits) any { return &l.IdleTime }),
	limit("max-body-bytes", "Bytes of a request's body.", func(l *limits.Limits) any { return &l.BodyBytes }),
	limit("max-bodies-bytes", "Bytes of the bodies of all requests at once. Another one is told to come again: 429 with `Retry-After`.", func(l *limits.Limits) any { return &l.AllBodiesBytes }),
	limit("max-in-flight", "Operations that are carried out at once. Another one is told to come again: 429 with `Retry-After`.", func(l *limits.Limits) any { return &l.InFlight }),
	limit("timeout", "How long an operation may take, its requests to the database included.", func(l *limits.Limits) any { return &l.Time }),
	limit("max-query-bytes", "Bytes of a query's text. What is longer belongs in variables.", func(l *limits.Limits) any { return &l.QueryBytes }),
	limit("max-tokens", "Words and signs of a query.", func(l *limits.Limits) any { return &l.Tokens }),
	limit("max-definitions", "Operations and fragments of a query.", func(l *limits.Limits) any { return &l.Definitions }),
	limit("max-fields", "Fields of a query, as they are written in it.", func(l *limits.Limits) any { return &l.Fields }),
	limit("max-spread-fields", "Fields of an operation, those of a fragment counted wherever it is spread.", func(l *limits.Limits) any { return &l.Spread }),
	limit("max-depth", "Fields of a query within one another.", func(l *limits.Limits) any { return &l.Depth }),
	limit("max-aliases", "Aliases of a query.", func(l *limits.Limits) any { return &l.Aliases }),
	limit("max-directives", "Directives of a query.", func(l *limits.Limits) any { return &l.Directives }),
	limit("cost-limit", "RU that an operation may cost, counted from the prices in the schema before it runs. 0 is no limit.", func(l *limits.Limits) any { return &l.Cost }),
	limit("max-elements", "Elements of lists that an operation may ask for: `first` counts again for every list within a list.", func(l *limits.Limits) any { return &l.Elements }),
	limit("max-content-bytes", "Bytes of posts and comments that an operation may read.", func(l *limits.Limits) any { return &l.ContentBytes }),
	limit("max-answer-bytes", fmt.Sprintf("Bytes of an answer's data, %d at most.", limits.MostAnswerBytes), func(l *limits.Limits) any { return &l.AnswerBytes }),
	limit("max-errors", fmt.Sprintf("Errors that an answer shows, %d at most.", limits.MostErrors), func(l *limits.Limits) any { return &l.Errors }),
}

// limit is the setting of a limit, with the default of package limits.
func limit(flag, meaning string, field func(*limits.Limits) any) Setting {
	s := Setting{
		Commands: []string{Serve},
		Flag:     flag, Env: "COSMOSBLOG_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_")),
		Meaning: meaning,
		field:   func(c *Config) any { return field(&c.Limits) },
	}
	s.Default = s.Get(&Config{Limits: limits.Default()})
	return s
}

// all are the settings of every kind.
var all = slices.Concat(settings, networkSettings, telemetrySettings, limitSettings)

func (c *Config) checkLimits() error {
	faults := c.checkEachLimit()
	l := c.Limits
	if l.AnswerBytes > limits.MostAnswerBytes {
		faults = append(faults, fmt.Errorf("--max-answer-bytes is %d at most", limits.MostAnswerBytes))
	}
	if l.Errors > limits.MostErrors {
		faults = append(faults, fmt.Errorf("--max-errors is %d at most", limits.MostErrors))
	}
	if l.AllBodiesBytes < l.BodyBytes {
		faults = append(faults, errors.New("--max-bodies-bytes is not less than --max-body-bytes: a body that is allowed has to find room"))
	}
	if l.HeaderTime > l.ReadTime {
		faults = append(faults, errors.New("--header-timeout is not longer than --read-timeout: the headers are part of what is read"))
	}
	if l.WriteTime < l.ReadTime+l.Time {
		faults = append(faults, fmt.Errorf("--write-timeout is %v at least, the sum of --read-timeout and --timeout: an answer that comes late could not be written",
			l.ReadTime+l.Time))
	}
	return errors.Join(faults...)
}

func (c *Config) checkEachLimit() (faults []error) {
	for _, s := range limitSettings {
		switch field := s.field(c).(type) {
		case *int:
			least := 1
			if field == &c.Limits.Cost {
				least = 0
			}
			if *field < least {
				faults = append(faults, fmt.Errorf("%s is %d at least", s.name(), least))
			}
		case *time.Duration:
			if *field <= 0 {
				faults = append(faults, fmt.Errorf("%s is longer than nothing", s.name()))
			}
		}
	}
	return faults
}
