import { print } from "graphql";
import { LivePostDocument } from "../generated/gql/graphql";
import type { Connection } from "./library";

// plainRead returns the function read of a client without queries.
export const plainRead =
  ({ url, token }: Connection) =>
  async (id: string): Promise<string> => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${await token()}` },
      body: JSON.stringify({ query: print(LivePostDocument), variables: { id } }),
    });
    return (await response.json()).data.post.comments.pageInfo.endCursor ?? "";
  };
