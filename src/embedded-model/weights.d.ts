/** Bytes of a file, as the build puts them into a bundle. */
declare module "*.bin" {
  const bytes: Uint8Array<ArrayBuffer>;
  export default bytes;
}
