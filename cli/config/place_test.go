package config_test

import (
	"testing"

	"cosmosblog/cli/config"
)

func TestParsePlace(t *testing.T) {
	for text, want := range map[string]config.Place{
		"folder":             {Folder: "folder", Database: "cosmosblog"},
		"folder#blog2":       {Folder: "folder", Database: "blog2"},
		"/srv/a#b/folder":    {Folder: "/srv/a#b/folder", Database: "cosmosblog"},
		"/srv/a#b/f#blog2":   {Folder: "/srv/a#b/f", Database: "blog2"},
		"a#b#cosmosblog":     {Folder: "a#b", Database: "cosmosblog"},
		"folder#":            {Folder: "folder"},
		"#blog2":             {Database: "blog2"},
		"https://a:443/":     {Endpoint: "https://a:443/", Database: "cosmosblog"},
		"https://a#blog2":    {Endpoint: "https://a", Database: "blog2"},
		"http://[::1]/#blog": {Endpoint: "http://[::1]/", Database: "blog"},
	} {
		if got := config.ParsePlace(text); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func TestPlacesOfACopy(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"folder#blog", "https://a.documents.azure.com:443/#blog2", ""},
		{"", "folder", "--from must name a data folder or an endpoint"},
		{"#blog", "folder", "--from must name a data folder or an endpoint"},
		{"folder#", "other", "--from must name a database after the last #"},
		{"folder", "https://a#", "--to must name a database after the last #"},
		{"folder", "https://a/dbs#blog", "--to must have no user, path or query"},
		{"ftp://a#blog", "folder", "--from must be a URL like"},
	} {
		settings := config.Default(config.Copy)
		settings.From, settings.To = c.from, c.to
		wantError(t, c.from+" to "+c.to, settings.Check(config.Copy), c.want)
	}
}
