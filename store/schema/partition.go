package schema

import "cosmosblog/store/cosmos"

// PartitionKeyOf returns the partition key of a stored item of a container. Error: the text is not
// an item.
func PartitionKeyOf(container string, item []byte) (string, error) {
	var keys struct {
		ID     string `json:"id"`
		UserID string `json:"userId"`
		PostID string `json:"postId"`
		Type   string `json:"type"`
		List   string `json:"list"`
	}
	err := cosmos.Decode(item, &keys)
	switch container {
	case Users:
		return keys.UserID, err
	case Posts:
		return keys.PostID, err
	case Feed:
		return keys.Type, err
	case Lists:
		return keys.List, err
	}
	return keys.ID, err
}
