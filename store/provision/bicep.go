package provision

import (
	"embed"
	"strings"
	"text/template"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/schema"
)

// Bicep returns a template for Azure Resource Manager that creates what Run creates, from the same
// definitions. It also creates an account, and the role that servers and projectors need. Accounts
// without keys need it, because only Resource Manager can create their containers and scripts.
func Bicep(database string, throughputs Throughputs) string {
	t := newBicepData(database)
	t.Options = bicepThroughputs(throughputs)
	t.Serverless = throughputs.fallback.kind == serverless
	t.DataActions = dataActions
	return t.text("database.bicep.tmpl")
}

// ScriptsBicep returns a template that creates the scripts in a database that exists. Accounts
// without keys need it to create blocked scripts again (Options.RecreateScripts).
func ScriptsBicep(database string) string { return newBicepData(database).text("scripts.bicep.tmpl") }

func newBicepData(database string) bicepTemplateData {
	t := bicepTemplateData{APIVersion: "2024-05-15", Database: database}
	for _, d := range schema.Containers {
		t.Containers = append(t.Containers, bicepResource{Symbol: d.Name, Name: d.Name, Resource: d.Properties()})
	}
	for _, s := range schema.Scripts {
		t.Scripts = append(t.Scripts, scriptResource(s))
	}
	return t
}

func (t bicepTemplateData) text(template string) string {
	var b strings.Builder
	if err := bicepTemplates.ExecuteTemplate(&b, template, t); err != nil {
		panic("provision: executing the Bicep template: " + err.Error())
	}
	return b.String()
}

type bicepTemplateData struct {
	APIVersion  string // of Resource Manager's resource types
	Database    string
	Options     object // throughputs, by container, and of the database
	Serverless  bool
	Containers  []bicepResource
	Scripts     []bicepResource
	DataActions []string
}

// bicepResource is one resource of the template. Resource has the properties that Run sends:
// Resource Manager accepts the same ones.
type bicepResource struct {
	Symbol, Name string
	Kind         string // the last part of the resource type; only for scripts
	Command      string // of az cosmosdb sql; only for scripts
	Container    string // only for scripts
	Resource     any
}

func scriptResource(s cosmos.Script) bicepResource {
	symbol, _, _ := strings.Cut(s.ID, "-") // the name without its version
	kind, command := "storedProcedures", "stored-procedure"
	if s.Trigger {
		kind, command = "triggers", "trigger"
	}
	return bicepResource{symbol, s.ID, kind, command, s.Container, s.Definition()}
}

func bicepThroughputs(t Throughputs) object {
	options := object{{"database", t.ofDatabase().bicep()}}
	for _, d := range schema.Containers {
		options = append(options, property{d.Name, t.ofContainer(d.Name).bicep()})
	}
	return options
}

// bicep returns the options with which Resource Manager creates a resource of this throughput.
func (t throughput) bicep() object {
	switch t.kind {
	case manual:
		return object{{"throughput", t.rus}}
	case autoscale:
		return object{{"autoscaleSettings", object{{"maxThroughput", t.rus}}}}
	}
	return object{}
}

//go:embed *.bicep.tmpl
var bicepFiles embed.FS

var bicepTemplates = template.Must(template.New("").
	Funcs(template.FuncMap{"literal": bicepLiteral}).
	ParseFS(bicepFiles, "*.bicep.tmpl"))
