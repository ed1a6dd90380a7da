const [LF, COMMA, SPACE] = [0x0a, 0x2c, 0x20] as const;

/** JSON lines as the members of a list, of as many bytes: no JSON has a line's end in it but as white space. `bytes`: of all of them. */
export function listedLines(lines: ReadableStream<Uint8Array>, bytes: number): ReadableStream<Uint8Array> {
  let at = 0;
  return lines.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const members = chunk.slice();
        for (let end = members.indexOf(LF); end >= 0; end = members.indexOf(LF, end + 1)) members[end] = at + end === bytes - 1 ? SPACE : COMMA;
        at += chunk.byteLength;
        controller.enqueue(members);
      },
    }),
  );
}
