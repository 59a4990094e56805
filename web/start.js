// Starts GraphQL Playground on the API of this server, with a first query and useful headers.
window.addEventListener('load', () => {
  const endpoint = window.location.origin + '/graphql';
  GraphQLPlayground.init(document.getElementById('root'), {
    endpoint,
    settings: {
      'editor.theme': 'light',
      'request.credentials': 'same-origin',
      'schema.polling.enable': false, // the schema does not change while the server runs
      'schema.disableComments': false,
    },
    tabs: [
      {
        endpoint,
        name: 'Feed',
        query: `# The most recent posts. The HTTP headers below ask
# for extensions.cosmos: what was sent to Cosmos DB.
# To change something, add a token there:
#   "Authorization": "Bearer …"
query Feed {
  feed(first: 20) {
    nodes {
      id
      title
      excerpt
      author { id username }
      commentCount
      likeCount
      creationDate
    }
    pageInfo { hasNextPage endCursor }
  }
}
`,
        headers: { 'X-Cosmos-Diagnostics': '1' },
      },
    ],
  });
});
