/**
 * A host name, or an IPv4 or IPv6 address without brackets. No scheme and no port, which have their own fields. Only an IPv6 address has
 * colons, and at least two.
 */
export const hostForm = /^(?:[A-Za-z0-9._-]+|[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*)$/;

/** The message for a host in another form. */
export const hostFault = 'must be a host name or an IP address, without a port';
