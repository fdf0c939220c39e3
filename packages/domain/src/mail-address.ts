/**
 * A plain local part, ASCII or not, and a domain or address literal: no header and no SMTP command can
 * read it as more than one address. Quoted local parts are not supported; no recipient of ours has one.
 */
export const mailAddressForm =
  /^[^\s\p{Cc}@<>()[\]\\,;:"]{1,64}@([^\s\p{Cc}@<>()[\]\\,;:"]{1,253}|\[[0-9A-Za-z.:]{2,60}\])$/u;

/** Whether an address can be used as recipient, sender and Reply-To. */
export const isMailable = (address: string): boolean => address.length <= 254 && mailAddressForm.test(address);
