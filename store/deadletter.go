package store

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"cosmosblog/internal/blog"
)

// DeadLetter is a change that could not be projected. It names the item, so that it can be projected again as it stands
// then.
type DeadLetter struct {
	Projection   string // the name of the one that failed; empty where the item could not be read
	Container    string
	PartitionKey string
	ItemID       string
	Reason       string
	Date         blog.DateTime // when it was set aside last
}

const typeDeadLetter = "deadletter"

type deadLetterItem struct {
	ID           string        `json:"id"`
	Type         string        `json:"type"`
	Projection   string        `json:"projection"`
	Container    string        `json:"container"`
	PartitionKey string        `json:"partitionKey"`
	ItemID       string        `json:"itemId"`
	Reason       string        `json:"reason"`
	Date         blog.DateTime `json:"date"`
}

// SetAside keeps a change in deadletters. There is one dead letter for each item and projection: the last.
func (s *Store) SetAside(ctx context.Context, letter DeadLetter) error {
	id := blog.InputHash(letter.Projection, letter.Container, letter.PartitionKey, letter.ItemID)
	text, err := itemJSON(deadLetterItem{
		ID:           id,
		Type:         typeDeadLetter,
		Projection:   letter.Projection,
		Container:    letter.Container,
		PartitionKey: letter.PartitionKey,
		ItemID:       letter.ItemID,
		Reason:       letter.Reason,
		Date:         letter.Date,
	})
	if err != nil {
		return err
	}
	_, err = s.containers[deadlettersContainer].UpsertItem(ctx, azcosmos.NewPartitionKeyString(id), text, nil)
	return asBlogError(err)
}

// Refused tells whether an error is the last word on what was asked: the service finds the request itself wrong, or an
// item is not of the form that it should have. Whatever else fails may work another time.
func Refused(err error) bool {
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return true
	}
	status, _ := statusOf(err)
	return status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge
}
