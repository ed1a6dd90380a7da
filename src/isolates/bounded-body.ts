const tooLarge = (most: number): string => `has more than ${most} bytes, which is the most that an environment may send or be sent at once`;

/** What is wrong with a message that says itself that its body goes beyond so many bytes; null where it does not say so. */
export const statedTooLarge = ({ headers }: Pick<Request | Response, "headers">, most: number): string | null =>
  Number(headers.get("content-length") ?? 0) > most ? tooLarge(most) : null;

/** The body, which breaks off with an error where it goes on beyond so many bytes; null where there is none. */
export function boundedBody(body: ReadableStream<Uint8Array> | null, most: number): ReadableStream<Uint8Array> | null {
  let left = most;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      left -= chunk.byteLength;
      if (left < 0) controller.error(new Error(`a body ${tooLarge(most)}`));
      else controller.enqueue(chunk);
    },
  });
  return body === null ? null : body.pipeThrough(counted);
}
