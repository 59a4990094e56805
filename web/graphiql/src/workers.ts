import JsonWorker from 'monaco-editor/esm/vs/language/json/json.worker.js?worker';
import EditorWorker from 'monaco-editor/esm/vs/editor/editor.worker.js?worker';
import GraphQLWorker from 'monaco-graphql/esm/graphql.worker.js?worker';

// The editor's background threads, as files of this server. graphiql/setup-workers/vite does the
// same, and logs each start to the console.
window.MonacoEnvironment = {
  getWorker: (_id: string, label: string) =>
    label === 'json' ? new JsonWorker() : label === 'graphql' ? new GraphQLWorker() : new EditorWorker(),
};
