// The search of markdown-it for addresses, which is not used. Text.tsx has its own.
export class LinkifyIt {}
