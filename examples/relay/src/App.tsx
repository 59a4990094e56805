import { useEffect, useState } from "react";
import { Comments } from "./Comments";
import { Feed } from "./Feed";
import { SignIn } from "./SignIn";

export function App() {
  const [postId, setPostId] = useState<string>();
  const [hasGap, setGap] = useState(false);
  useEffect(() => {
    const noteGap = () => setGap(true); // of live.ts
    addEventListener("gap", noteGap);
    return () => removeEventListener("gap", noteGap);
  }, []);
  return (
    <>
      <header>
        <h1>The feed</h1>
        <SignIn />
      </header>
      {hasGap && (
        <p role="status">
          There were more new posts. <button onClick={() => location.reload()}>Show the feed again</button>
        </p>
      )}
      <main>
        <Feed open={setPostId} />
        {postId && <Comments key={postId} postId={postId} />}
      </main>
    </>
  );
}
