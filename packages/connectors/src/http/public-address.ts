import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** IPv4 networks outside the public internet (IANA, IPv4 Special-Purpose Address Registry). */
const reserved4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT, and the metadata service of Alibaba
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's platform, which answers only its own machines
  '169.254.0.0/16', // link-local, and the metadata services of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments, and the metadata service of Oracle
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // relays of 6to4
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
];

/**
 * The only allocated part of public IPv6. It excludes everything else: loopback, mapped and compatible IPv4, NAT64
 * (64:ff9b::/96, 64:ff9b:1::/48), segment routing, unique local (and the metadata service of AWS), link- and site-local, multicast.
 */
const global6 = '2000::/3';

/** Special networks within it (IANA, IPv6 Special-Purpose Address Registry). */
const reserved6 = [
  '2001::/23', // protocol assignments, among them Teredo, which hides an IPv4 address
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which hides an IPv4 address
  '3ffe::/16', // the 6bone, returned to IANA
  '3fff::/20', // documentation
];

const listOf = (networks: string[], family: 'ipv4' | 'ipv6'): BlockList => {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), family);
  }
  return list;
};

const notPublic4 = listOf(reserved4, 'ipv4');
const maybePublic6 = listOf([global6], 'ipv6');
const notPublic6 = listOf(reserved6, 'ipv6');

/** Whether an IP address belongs to a host on the public internet. False for anything other than a plain address. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !notPublic4.check(address, 'ipv4');
  return (
    isIPv6(address) &&
    !address.includes('%') &&
    maybePublic6.check(address, 'ipv6') &&
    !notPublic6.check(address, 'ipv6')
  );
}

/** Own IPv4 networks: private ones, this machine, and the shared addresses of providers and tunnels. */
const own4 = listOf(['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'], 'ipv4');
const own6 = listOf(['::1/128', 'fc00::/7'], 'ipv6');
/** Metadata services inside those networks; all others are link-local or reserved. */
const metadata4 = listOf(['100.100.100.200/32'], 'ipv4'); // Alibaba
const metadata6 = listOf(
  [
    'fd00:ec2::/32', // AWS
    'fd20:ce::254/128', // Google
    'fd00:42::42/128', // Scaleway
    'fd00:c1::a9fe:a9fe/128', // Oracle
  ],
  'ipv6',
);

/** Whether an IP address belongs to this machine or an own network. A metadata service belongs to the provider. */
export function isPrivateAddress(address: string): boolean {
  if (isIPv4(address)) return own4.check(address, 'ipv4') && !metadata4.check(address, 'ipv4');
  return isIPv6(address) && !address.includes('%') && own6.check(address, 'ipv6') && !metadata6.check(address, 'ipv6');
}
