// The characters that have names in XML, and those with numbers, in place of all of HTML.
export { decodeXML as decodeHTMLStrict } from 'entities/decode';
