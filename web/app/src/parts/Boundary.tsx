import { Component, type ReactNode } from 'react';

// Boundary shows its children. If they cannot be shown because of a mistake in this program, it
// shows a sentence, a button to reload, and a way to the feed.
export class Boundary extends Component<{ children: ReactNode }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError = () => ({ hasFailed: true });

  override render() {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <main>
        <section className="empty" role="alert">
          <h1>This page has failed</h1>
          <p>It has a mistake, or got an answer that it does not understand.</p>
          <p className="buttons">
            <button className="primary" onClick={() => location.reload()}>
              Reload the page
            </button>
            <a className="button" href="/">
              Recent posts
            </a>
          </p>
        </section>
      </main>
    );
  }
}
