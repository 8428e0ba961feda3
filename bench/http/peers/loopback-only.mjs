// Loaded before a peer: refuses every connection but loopback. Some peers call out when they start.
import dgram from "node:dgram";
import dns from "node:dns";
import net from "node:net";

// Servers listen on 0.0.0.0 and ::; as the address of a peer they mean this machine too.
const loopback = (host) =>
  host === undefined || /^(localhost$|127\.|0\.0\.0\.0$|::1?$|::ffff:127\.)/.test(host);

const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  const options = Array.isArray(args[0]) ? args[0][0] : args[0];
  const host = typeof options === "object" ? (options.path ? undefined : options.host) : args[1];
  if (!loopback(typeof host === "string" ? host : undefined)) {
    process.nextTick(() => this.destroy(new Error(`refused: ${host} is not loopback`)));
    return this;
  }
  return connect.apply(this, args);
};
const lookup = dns.lookup;
dns.lookup = (host, ...rest) =>
  loopback(host) ? lookup(host, ...rest) : rest.at(-1)(new Error(`refused: ${host}`));
dgram.Socket.prototype.send = () => undefined;
