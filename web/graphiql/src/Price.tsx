import { tryParseJSONC, useGraphiQL } from '@graphiql/react';
import type { FetcherParams } from '@graphiql/toolkit';
import { parse, validate, type GraphQLSchema } from 'graphql';
import { useEffect, useEffectEvent, useState } from 'react';
import { createPortal } from 'react-dom';
import { priceOf, type Price as Amount } from './api';
import { ru } from './charges';
import { activeTab } from './tabs';

// Price shows the price of the operation in the tab, before it runs. It is in the line between the
// editors, because GraphiQL has no place for it. It does not say "up to": large items cost more.
export function Price() {
  const price = usePrice();
  const [line, setLine] = useState<Element | null>(null);
  useEffect(() => setLine(document.querySelector('.graphiql-editor-tools')), []);
  if (!line || !price) return null;
  const { limit, field } = price;
  return createPortal(
    <span className={limit ? 'price too-high' : 'price'} title={field && `${field} costs most.`}>
      <span>price {ru(price.ru)}</span>
      {limit && <span>, limit {ru(limit)}</span>}
    </span>,
    line,
  );
}

// pause is the time in milliseconds without a change after which the price is asked for.
const pause = 400;

// usePrice returns the price of the operation in the tab that is shown. While somebody types, it
// returns the last one.
function usePrice(): Amount | undefined {
  const { id, query, variables } = useGraphiQL(activeTab) ?? {};
  const operationName = useGraphiQL((state) => state.operationName);
  const schema = useGraphiQL((state) => state.schema);
  const [last, setLast] = useState<{ tab?: string; price?: Amount }>({});
  const isNewTab = last.tab !== id;
  const wait = useEffectEvent(() => (isNewTab ? 0 : pause));
  useEffect(() => {
    if (!schema) return;
    const abort = new AbortController();
    const ask = async () => {
      const params = paramsOf(schema, query ?? '', variables ?? '', operationName);
      const price = params && (await priceOf(params, abort.signal).catch(() => undefined));
      if (!abort.signal.aborted) setLast({ tab: id, price });
    };
    const timer = setTimeout(ask, wait());
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [id, query, variables, operationName, schema]);
  return isNewTab ? undefined : last.price;
}

// paramsOf returns the request for an operation, or undefined if it is not valid.
function paramsOf(
  schema: GraphQLSchema,
  query: string,
  variables: string,
  operationName?: string,
): FetcherParams | undefined {
  try {
    const params = { query, variables: tryParseJSONC(variables), operationName };
    return validate(schema, parse(query)).length > 0 ? undefined : params;
  } catch {
    return undefined; // somebody is typing
  }
}
