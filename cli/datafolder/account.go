package datafolder

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"cosmosblog/store/cosmos"
	"cosmosblog/store/provision"
	"cosmosblog/store/schema"
)

// ProvisionAccount creates the missing resources of an account (provision.Run). It returns a line
// for each resource that it created, changed or deleted, even if it then fails.
func ProvisionAccount(ctx context.Context, o Options, wanted provision.Options) (done []string, err error) {
	options, err := o.account(ctx)
	if err != nil {
		return nil, err
	}
	db, err := cosmos.New(options)
	if err != nil {
		return nil, o.accountError(err)
	}
	defer db.Close()
	if err := db.CheckAccount(ctx); err != nil {
		return nil, o.accountError(err)
	}
	done, err = provision.Run(ctx, db, wanted)
	return done, o.accountError(err)
}

// account returns the client options of the account. Without a key, azidentity's default chain
// authorizes the requests. Error: the key's file cannot be read, or there is no identity.
func (o Options) account(ctx context.Context) (cosmos.Options, error) {
	options := cosmos.Options{
		Endpoint:  o.Endpoint,
		Key:       o.Key,
		Database:  o.Database,
		Transport: newHTTPClient(time.Now),
		Recorder:  o.Recorder,
		ClockOff:  o.warnOfClock,

		BackgroundBucket: o.BackgroundBucket,
	}
	if o.KeyFile != "" {
		key, err := readKey(o.KeyFile)
		if err != nil {
			return options, err
		}
		options.Key, options.ReadKey = key, o.rereadKey
	}
	if options.Key != "" {
		return options, nil
	}
	credential, err := azidentity.NewDefaultAzureCredential(nil)
	if err == nil {
		err = tryCredential(ctx, credential, o.Endpoint)
	}
	if err != nil {
		name := cmp.Or(o.KeyName, "COSMOS_KEY")
		return options, fmt.Errorf("%s is not set, and no Entra ID credential was found (%s): "+
			"set %s, run az login, or give this machine an identity", name, firstLine(err), name)
	}
	options.Credential = credential
	return options, nil
}

// readKey reads the account's key from a file. Unlike files.LoadSecret, it accepts files that
// others can read, because mounted secrets are such files
// (kubernetes.io/docs/concepts/configuration/ secret: the default mode is 0644). Errors are for the
// operator.
func readKey(path string) (string, error) {
	text, err := os.ReadFile(path)
	if _, notKey := base64.StdEncoding.DecodeString(path); err != nil && notKey == nil {
		return "", errors.New("COSMOS_KEY_FILE seems to hold a key, and must be the path of a file that holds it")
	}
	if err != nil {
		return "", fmt.Errorf("COSMOS_KEY_FILE cannot be read: %w", err)
	}
	key := strings.TrimSpace(string(text))
	if decoded, err := base64.StdEncoding.DecodeString(key); err != nil || len(decoded) == 0 {
		return "", fmt.Errorf("COSMOS_KEY_FILE: %s does not hold a key of an account, which is base64", path)
	}
	return key, nil
}

// rereadKey is cosmos.Options.ReadKey. It logs its errors.
func (o Options) rereadKey() (string, error) {
	key, err := readKey(o.KeyFile)
	if err != nil && o.Logger != nil {
		o.Logger.Error("the account rejected its key, and there is no other", "error", err)
	}
	return key, err
}

// warnOfClock logs that the clock of this machine differs from the account's, or agrees again.
func (o Options) warnOfClock(offset time.Duration) {
	switch {
	case o.Logger == nil:
	case offset == 0:
		o.Logger.Info("this machine's clock agrees with the account's again")
	default:
		o.Logger.Warn("this machine's clock differs from the account's; set it, because tokens expire by it and the account "+
			"rejects requests dated 15 minutes from its own time; stored dates are the account's and remain right",
			"secondsToAdd", math.Round(offset.Seconds()))
	}
}

// signInTimeout is the maximum time for the default chain to find an identity. The chain also
// queries the machine's metadata service, which answers at once or not at all.
const signInTimeout = 20 * time.Second

// tryCredential gets a token for the account, so that a missing identity is reported at startup.
func tryCredential(ctx context.Context, credential azcore.TokenCredential, endpoint string) error {
	account, err := url.Parse(endpoint)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, signInTimeout)
	defer cancel()
	scope := fmt.Sprintf("https://%s/.default", account.Hostname())
	_, err = credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{scope}})
	return err
}

// accountError names the account that cannot be used. It keeps the first line of the SDK's errors,
// which are pages long.
func (o Options) accountError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	_, lacksResources := errors.AsType[*schema.MissingError](err)
	if _, lacksIndexes := errors.AsType[*schema.IndexError](err); lacksResources || lacksIndexes {
		return err
	}
	_, isUnusable := errors.AsType[*cosmos.AccountError](err)
	if _, isOtherFormat := errors.AsType[*schema.FormatError](err); isUnusable || isOtherFormat {
		return fmt.Errorf("the account at %s cannot be used: %w", o.Endpoint, err)
	}
	if _, ok := errors.AsType[*provision.DifferenceError](err); ok {
		return fmt.Errorf("database %s at %s: %w", o.Database, o.Endpoint, err)
	}
	return fmt.Errorf("the account at %s cannot be used: %s", o.Endpoint, firstLine(err))
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimRight(line, ". ")
}
