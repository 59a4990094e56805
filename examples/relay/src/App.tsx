import { useState } from "react";
import { Comments } from "./Comments";
import { Feed } from "./Feed";
import { SignIn } from "./SignIn";

export function App() {
  const [postId, setPostId] = useState<string>();
  return (
    <>
      <header>
        <h1>The feed</h1>
        <SignIn />
      </header>
      <main>
        <Feed open={setPostId} />
        {postId && <Comments key={postId} postId={postId} />}
      </main>
    </>
  );
}
