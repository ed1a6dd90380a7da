import { connect, createServer, type Socket } from "node:net";

/** A line to a service that can be cut. */
export interface CutLine {
  /** The service's address by this line, without a slash at its end. */
  readonly url: string;
  /** Ends what goes over it; nothing goes over it again. */
  cut(): void;
}

/** `url`: of the service itself. */
export function cutLine(url: string): Promise<CutLine> {
  const { hostname, port } = new URL(url);
  const ends = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(from);
      from
        .on("error", () => undefined)
        .on("close", () => {
          ends.delete(from);
          to.destroy();
        });
      from.pipe(to);
    }
  });
  const cut = (): void => {
    server.close();
    for (const end of ends) end.destroy();
  };
  return new Promise((resolve, reject) => {
    server.once("error", reject).listen(0, hostname, () => {
      const address = server.address();
      if (address === null || typeof address === "string") return reject(new Error("no port was given"));
      resolve({ url: `http://${hostname}:${address.port}`, cut });
    });
  });
}
