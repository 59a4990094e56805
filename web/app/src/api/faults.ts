import type { CombinedError } from 'urql';
import { noAnswer } from '../../../shared/fetch';
import { page } from './page';

// Fault is an error in words for people. field names the input field that it belongs to, and element is
// the index in it, if the field is a list. A retry can help if it isTemporary.
export type Fault = { code?: string; message: string; field?: string; element?: number; isTemporary?: boolean };

const temporary = ['TRY_AGAIN', 'THROTTLED', 'UNAVAILABLE', 'OVERLOADED', 'TIMEOUT', 'BUDGET_EXCEEDED', 'DELETION_UNDER_WAY', 'INTERNAL'];

// faultsOf returns the faults of a result. A request without an answer is a fault too.
export function faultsOf(error: CombinedError | undefined): Fault[] {
  if (!error) return [];
  if (error.graphQLErrors.length === 0) return [unanswered()];
  return error.graphQLErrors.map(({ message, extensions }) => {
    const code = extensions.code as string;
    const [root, field, element] = (extensions.field ?? []) as [string?, string?, number?];
    return {
      code,
      message: sentence(code, extensions) ?? message,
      field: root === 'input' ? field : undefined,
      element,
      isTemporary: temporary.includes(code),
    };
  });
}

// unanswered returns the fault of a request without an answer.
export function unanswered(): Fault {
  const silent = page.development ? noAnswer : 'The server does not answer.';
  return { message: navigator.onLine ? silent : 'You are offline.', isTemporary: true };
}

// sentence returns the words for the codes whose message is for programmers. The messages of all
// others are for people already.
function sentence(code: string, extensions: Record<string, unknown>): string | undefined {
  switch (code) {
    case 'UNAUTHENTICATED':
      return 'Your sign-in is no longer valid. Sign in again.';
    case 'USER_REQUIRED':
      return 'Your user is gone. Sign in again.';
    case 'FORBIDDEN':
      return 'This belongs to someone else.';
    case 'NOT_FOUND':
      return 'This is gone. It was deleted in the meantime.';
    case 'CONFLICT':
      return 'The post was edited elsewhere in the meantime.';
    case 'IDEMPOTENCY_KEY_REUSED':
      return 'This is published already, with an earlier text. To publish this text as well, send it once more.';
    case 'TRY_AGAIN':
      return 'Others changed the same thing at this moment. Nothing was changed.';
    case 'DELETION_UNDER_WAY':
      return 'Your user is being deleted. In about a minute, you can sign in again.';
    case 'THROTTLED':
      return 'The database is busy.';
    case 'UNAVAILABLE':
      return 'The database does not answer.';
    case 'OVERLOADED':
      return 'The server is busy.';
    case 'TIMEOUT':
      return 'The server took too long.';
    case 'BUDGET_EXCEEDED':
      return `Too much was read or written here in the last seconds. It goes on in ${Math.ceil(Number(extensions.retryAfterMs) / 1000)} s.`;
    case 'COST_LIMIT_EXCEEDED':
      if (extensions.price === undefined) return; // the message says what was not done
      return `This would cost ${extensions.price} RU, and the server allows ${extensions.limit}.`;
    case 'INTERNAL':
      return `The server failed. Its log has the reason, under ${extensions.errorId}.`;
  }
}

// isKeyUsed reports whether a draft's key belongs to an earlier text, so that it needs a new one.
export const isKeyUsed = (faults: Fault[]) => faults.some(({ code }) => code === 'IDEMPOTENCY_KEY_REUSED');
