import { useGraphiQL, useGraphiQLActions, type TabsState } from '@graphiql/react';
import { useEffect, useRef } from 'react';
import { usernameOf } from '../../shared/session';
import { findIds } from './api';
import { emptyIds, examples, fill, type Example } from './examples';
import { useSession } from './session';

type Tab = TabsState['tabs'][number];

// activeTab selects the tab that is shown, and activeId its id.
export const activeTab = (state: TabsState): Tab | undefined => state.tabs[state.activeTabIndex];
const activeId = (state: TabsState) => activeTab(state)?.id;

// unknown are the facts of an operation until GraphiQL has parsed it, a moment after it was typed. A new
// tab would otherwise name the tab before it after the operation that was parsed last.
const unknown = { documentAST: undefined, operations: undefined, operationName: undefined };

// filled are the variables of examples that the page has filled with ids.
const filled = new Set<string>();

// isOwn reports whether variables are those of an example, and nobody has changed them.
const isOwn = (variables: string) =>
  filled.has(variables) || examples.some((example) => example.variables === variables);

// isUntouched reports whether a tab has nothing that would be lost if another example took its place:
// no text that somebody typed, and no answer.
function isUntouched({ query, variables, headers, response }: Tab): boolean {
  if (headers?.trim() || response) return false;
  return isOwn(variables ?? '') && (!query?.trim() || examples.some((example) => example.query === query));
}

// useExamples returns functions to open an example, and to find out whether its tab is shown.
//
// An example that is open keeps its tab. Another one takes the place of the active tab if that is
// untouched, so that somebody who looks at the examples has one tab. Otherwise, it gets a new one.
export function useExamples() {
  const { addTab, changeTab, setOperationFacts, stop, updateActiveTabValues } = useGraphiQLActions();
  const tabs = useGraphiQL((state) => state.tabs);
  const active = useGraphiQL((state) => state.activeTabIndex);
  const isFetching = useGraphiQL((state) => state.isFetching || state.subscription !== null);
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  const headerEditor = useGraphiQL((state) => state.headerEditor);

  const isActive = ({ query }: Example) => tabs[active]?.query === query;
  const open = (example: Example) => {
    const typed = {
      query: queryEditor?.getValue() ?? null,
      variables: variableEditor?.getValue() ?? null,
      headers: headerEditor?.getValue() ?? null,
    };
    // GraphiQL itself does so only after a moment, and would then name the tab after its former operation.
    if (typed.query !== tabs[active]?.query) setOperationFacts(unknown);
    updateActiveTabValues(typed.query === tabs[active]?.query ? typed : { ...typed, operationName: null });
    const current = { ...tabs[active]!, ...typed };
    const index = tabs.with(active, current).findIndex(({ query }) => query === example.query);
    if (index === active) return;
    if (index >= 0) {
      changeTab(index);
      if (!isOwn(tabs[index]!.variables ?? '')) return; // somebody typed them
    } else if (isFetching || !isUntouched(current)) {
      stop(); // its answers would come to the new tab
      addTab();
    }
    queryEditor?.setValue(example.query);
    variableEditor?.setValue(example.variables); // with empty ids, so that stale ones are replaced
    updateActiveTabValues({ query: example.query, variables: example.variables, operationName: null });
  };
  return { isActive, open };
}

// useActiveTab writes ids to the variables of the tab that is shown, and scrolls the tab into view.
export function useActiveTab() {
  useIdsInVariables();
  const { setOperationFacts } = useGraphiQLActions();
  const tab = useGraphiQL(activeId);
  const shown = useRef(tab);
  useEffect(() => {
    if (shown.current !== tab) setOperationFacts(unknown);
    shown.current = tab;
    document.querySelector('.graphiql-tab-active')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [tab, setOperationFacts]);
}

// useIdsInVariables fills the empty ids of an example when its tab is shown, and when an operation has
// been executed, which may have created what an example needs.
function useIdsInVariables() {
  const session = useSession();
  const editor = useGraphiQL((state) => state.variableEditor);
  const tab = useGraphiQL(activeId);
  const isFetching = useGraphiQL((state) => state.isFetching);
  const query = useGraphiQL((state) => state.tabs[state.activeTabIndex]?.query);
  useEffect(() => {
    const text = editor?.getValue() ?? '';
    const names = emptyIds(text);
    if (!editor || isFetching || names.length === 0) return;
    let isCurrent = true;
    const needsQuery = names.some((name) => name !== 'username');
    const found = needsQuery ? findIds() : Promise.resolve({});
    found.then(
      (ids) => {
        const full = fill(text, { ...ids, username: session && usernameOf(session.name) });
        if (!isCurrent || editor.getValue() !== text || full === text) return;
        if (isOwn(text)) filled.add(full);
        editor.setValue(full);
      },
      () => {}, // the server is gone: the ids stay empty, and running the example shows why
    );
    return () => {
      isCurrent = false;
    };
  }, [session, editor, tab, isFetching, query]);
}
