// A load balancer, which forwards TCP connections to one server.
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

// Target is where new connections go: to the server of a URL, or nowhere, as before a server listens
// (refused), or behind a balancer that has no server (503).
export type Target = string | "refused" | "503";

export class Balancer {
  requests = 0; // requests by HTTP, WebSockets included
  private target: Target = "503";
  private port = 0;
  private readonly server = createServer((socket) => this.accept(socket));
  private readonly sockets = new Set<Socket>();

  get url() {
    return `http://127.0.0.1:${this.port}/graphql`;
  }

  // to sets the target of new connections.
  async to(target: Target) {
    this.target = target;
    const listens = target !== "refused";
    if (listens === this.server.listening) return;
    if (listens) await once(this.server.listen(this.port, "127.0.0.1"), "listening");
    else this.server.close();
    if (listens) ({ port: this.port } = this.server.address() as AddressInfo);
  }

  // drop ends all connections.
  drop() {
    for (const socket of this.sockets) socket.destroy();
  }

  close() {
    this.server.close();
    this.drop();
  }

  private accept(client: Socket) {
    this.sockets.add(client);
    client.on("close", () => this.sockets.delete(client));
    client.on("error", () => {});
    client.on("data", (bytes) => {
      if (/^(GET|POST) \/graphql/.test(bytes.toString("latin1"))) this.requests++;
    });
    if (this.target === "503") {
      client.once("data", () => client.end("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
      return;
    }
    const { hostname, port } = new URL(this.target);
    const server = connect(Number(port), hostname);
    this.sockets.add(server);
    server.on("error", () => client.destroy());
    server.on("close", () => this.sockets.delete(server));
    client.on("close", () => server.destroy());
    client.pipe(server);
    server.pipe(client);
  }
}
