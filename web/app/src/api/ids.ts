// The ids of documents. The server knows the documents of its own pages, so requests have ids in place of
// texts.
import type { DocumentNode } from 'graphql';
import { makeOperation, type Operation, type OperationResult } from 'urql';

// idOf returns the id of a document, its hash, also if the document has only that.
export function idOf(document: object) {
  const { documentId, __meta__ } = document as { documentId?: string; __meta__?: { hash: string } };
  return documentId ?? __meta__?.hash;
}

// withId replaces the document of an operation by its id, unless its context hasText.
export function withId(operation: Operation): Operation {
  const id = idOf(operation.query);
  if (!id || operation.context.hasText || operation.kind === 'subscription') return operation;
  const query = { kind: 'Document', definitions: [], documentId: id } as unknown as DocumentNode;
  return makeOperation(operation.kind, { ...operation, query }, { ...operation.context, withText: operation });
}

// ofText is the result of the operation as it was before withId.
export const ofText = (result: OperationResult): OperationResult => ({
  ...result,
  operation: result.operation.context.withText ?? result.operation,
});

type Errors = readonly { extensions?: Record<string, unknown> }[];

// isUnknownId reports whether a server does not know the id of a document, as after an upgrade. It can be
// sent the text instead.
export const isUnknownId = (errors: Errors = []) =>
  errors.some(({ extensions }) => String(extensions?.code).startsWith('PERSISTED_QUERY_NOT_'));
