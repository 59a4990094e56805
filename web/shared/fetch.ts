// Refused has the server's reason for refusing a request.
export class Refused extends Error {}

export const noAnswer = 'The server does not answer. Is it still running?';

// reasonOf tells a person why a request failed.
export const reasonOf = (error: unknown) => (error instanceof Refused ? error.message : noAnswer);

// fetchInTime gives up on a server that is silent for longer than it may work on an operation.
export async function fetchInTime(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new DOMException('silent', 'TimeoutError')), 20_000);
  const signal = init.signal ? AbortSignal.any([late.signal, init.signal]) : late.signal;
  try {
    return await fetch(input, { ...init, signal });
  } finally {
    clearTimeout(timer);
  }
}
