import { useGraphiQL } from '@graphiql/react';
import { useEffect } from 'react';
import { usernameOf } from '../../shared/session';
import { findIds } from './api';
import { emptyIds, fill } from './examples';
import { useSession } from './session';

// activeTab selects the id of the tab that is shown.
const activeTab = (state: { tabs: { id: string }[]; activeTabIndex: number }) => state.tabs[state.activeTabIndex]?.id;

// useActiveTab writes ids to the variables of the tab that is shown, and scrolls the tab into view.
export function useActiveTab() {
  useIdsInVariables();
  const tab = useGraphiQL(activeTab);
  useEffect(() => {
    document.querySelector('.graphiql-tab-active')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [tab]);
}

// useIdsInVariables fills the empty ids of an example when its tab is shown, and when an operation has
// been executed, which may have created what an example needs.
function useIdsInVariables() {
  const session = useSession();
  const editor = useGraphiQL((state) => state.variableEditor);
  const tab = useGraphiQL(activeTab);
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
        const filled = fill(text, { ...ids, username: session && usernameOf(session.name) });
        if (isCurrent && editor.getValue() === text && filled !== text) editor.setValue(filled);
      },
      () => {}, // the server is gone: the ids stay empty, and running the example shows why
    );
    return () => {
      isCurrent = false;
    };
  }, [session, editor, tab, isFetching, query]);
}
