import { Component, Suspense, type ReactNode } from "react";
import { Errors } from "./Errors";
import { errorsOf } from "./errors";

export type Options = { fetchKey: number };
type Props = { children: (options: Options) => ReactNode };
type State = { tries: number; error?: Error };

// Reading shows components that read from the API. While they wait, it says so. If they fail, it shows
// the errors, and a button that reads again. The options are those of their queries.
export class Reading extends Component<Props, State> {
  state: State = { tries: 1 };

  static getDerivedStateFromError = (error: Error) => ({ error });

  tryAgain = () => this.setState(({ tries }) => ({ tries: tries + 1, error: undefined }));

  render() {
    const { tries, error } = this.state;
    if (!error) return <Suspense fallback={<p>Loading …</p>}>{this.props.children({ fetchKey: tries })}</Suspense>;
    return (
      <section>
        <Errors errors={errorsOf(error)} />
        <button onClick={this.tryAgain}>Try again</button>
      </section>
    );
  }
}
