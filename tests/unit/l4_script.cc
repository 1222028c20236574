/* SPDX-License-Identifier: BSD-3-Clause */
/* What the lines of a script do; see l4_script.h. */
#include <algorithm>

#include <arpa/inet.h>

#include "l4_packet.h"
#include "l4_script.h"
#include "l4_words.h"

namespace l4
{
namespace
{
const double epoch_s = 1000; /* the clock at the script's 0 */

uint64_t
ns(double seconds)
{
	return uint64_t((seconds + epoch_s) * 1e9 + 0.5);
}

uint32_t
offset_of(const fg_l4 *w, const fg_flow &f)
{
	return ts_offset_of(w, table_hash(w, &f));
}

/* of a segment that left */
uint32_t
offset_of(const fg_l4 *w, const segment &s)
{
	fg_flow f = s.flow;

	memcpy(f.local, s.flow.remote, 16);
	memcpy(f.remote, s.flow.local, 16);
	std::swap(f.local_port, f.remote_port);
	return offset_of(w, f);
}

void
put_options(Frame *f, const Extras &e, uint32_t ts_offset, uint32_t our_isn)
{
	Frame o;

	if (e.value.count("mss"))
		put(&o, 0x02040000 | e.value.at("mss"), 4);
	if (e.sackok)
		put(&o, 0x0402, 2);
	if (e.value.count("scale"))
		put(&o, 0x030300 | e.value.at("scale"), 3);
	if (e.has_ts) {
		put(&o, 0x080a, 2);
		put(&o, e.tsval, 4);
		put(&o, e.tsecr == 0 ? 0 : e.tsecr + uint32_t(epoch_s * 1000) + ts_offset, 4);
	}
	if (!e.sack.empty()) {
		put(&o, 0x0500 | (2 + 8 * e.sack.size()), 2);
		for (const range &r : e.sack) {
			put(&o, our_isn + r.from, 4);
			put(&o, our_isn + r.to, 4);
		}
	}
	for (size_t at = 0; at + 1 < e.raw.size(); at += 2)
		o.push_back(uint8_t(std::stoul(e.raw.substr(at, 2), nullptr, 16)));
	while (o.size() % 4 != 0)
		o.push_back(1);
	f->insert(f->end(), o.begin(), o.end());
}

} /* namespace */

void
Script::Set(std::istringstream &in)
{
	const std::map<std::string, std::function<void(double)>> keys = {
		{"refuse_early", [this](double v) { refuses_early = v != 0; }},
		{"answer", [this](double v) { answer = uint64_t(v); }},
		{"refuse_until", [this](double v) { refuse_until = ns(v); }},
		{"flooded", [this](double v) { flooded = v != 0; }},
		{"ipv6", [this](double v) { ipv6 = v != 0; }},
		{"peer_isn", [this](double v) { peer_isn = uint32_t(v); }},
		{"mtu", [this](double v) { mtu = uint16_t(v); }},
		{"sack", [this](double v) { tcp.sack = v != 0; }},
		{"timestamps", [this](double v) { tcp.timestamps = v != 0; }},
		{"window_scaling", [this](double v) { tcp.window_scaling = v != 0; }},
		{"ecn", [this](double v) { tcp.ecn = v != 0; }},
		{"nodelay", [this](double v) { tcp.nodelay = v != 0; }},
		{"handshake_ack_alone", [this](double v) { tcp.handshake_ack_alone = v != 0; }},
		{"cubic", [this](double v) { tcp.congestion = v != 0 ? FG_L4_CUBIC : FG_L4_NEWRENO; }},
		{"receive_buffer", [this](double v) { tcp.receive_buffer = uint32_t(v); }},
		{"send_buffer", [this](double v) { tcp.send_buffer = uint32_t(v); }},
		{"mss", [this](double v) { tcp.mss = uint16_t(v); }},
		{"initial_window", [this](double v) { tcp.initial_window = uint8_t(v); }},
		{"ack_every", [this](double v) { tcp.ack_every = uint8_t(v); }},
		{"syn_retries", [this](double v) { tcp.syn_retries = uint8_t(v); }},
		{"retries", [this](double v) { tcp.retries = uint8_t(v); }},
		{"delayed_ack_ms", [this](double v) { tcp.delayed_ack_ms = uint32_t(v); }},
		{"rto_min_ms", [this](double v) { tcp.rto_min_ms = uint32_t(v); }},
		{"time_wait_ms", [this](double v) { tcp.time_wait_ms = uint32_t(v); }},
		{"keepalive_ms", [this](double v) { tcp.keepalive_ms = uint32_t(v); }},
	};
	std::string key;
	double value;

	in >> key >> value;
	ASSERT_FALSE(in.fail());
	ASSERT_TRUE(keys.count(key)) << key;
	keys.at(key)(value);
}

void
Script::Start()
{
	if (host)
		return;
	host = std::make_unique<Host>(!listens, tcp, mtu);
	host->SetAddress(ipv6);
	host->refuse_early = refuses_early;
	host->answer = answer;
	host->refuse_until = refuse_until;
	own(host->w)->half_open = flooded ? 1000 : 0;
	host->send = [this](const Frame &f) { out.push_back({double(host->w->now) / 1e9 - epoch_s, f}); };
	host->on_established = [this](fg_stream *which) { c = which; };
	host->on_closed = [this](fg_stream *which, fg_l4_end) {
		c = conn_of(which)->state == TIME_WAIT ? which : nullptr;
	};
	host->Do(ns(0), [] {});
}

/* let time pass: timers run, and what they send is caught */
void
Script::Advance(double to)
{
	uint64_t due = host->Poll(host->w->now);

	while (due < ns(to) && host->rooms > 0) {
		due = host->Poll(due);
	}
	host->Poll(ns(to));
	now = to;
}

void
Script::Command(const std::string &name, std::istringstream &in)
{
	uint64_t octets = 0;

	if (name == "write" || name == "rooms")
		in >> octets;
	if (name == "rooms")
		host->rooms = unsigned(octets);
	if (name == "end")
		fg_l4_reset(host->w);
	host->Do(ns(now), [&] {
		fg_flow f = host->Flow();

		if (name == "open")
			c = fg_stream_open(host->w, 0, &f);
		else if (name != "listen" && name != "rooms" && name != "end" && c == nullptr)
			FAIL() << "there is no connection";
		else if (name == "write")
			fg_stream_write(host->w, c, octets);
		else if (name == "close")
			fg_stream_close(host->w, c);
		else if (name == "abort")
			fg_stream_abort(host->w, c);
		else if (name != "listen" && name != "rooms" && name != "end")
			FAIL() << name << " is no command";
	});
	host->Poll(ns(now));
}

double
Script::Value(const std::string &name)
{
	if (name == "received")
		return double(host->received);
	if (name == "wrong")
		return double(host->wrong);
	if (name == "closed")
		return host->closed;
	if (name == "established")
		return host->established;
	if (name == "end")
		return host->last_end;
	if (name == "open")
		return own(host->w)->open;
#define COUNTER(field, severity, text) \
	if (name == #field)            \
		return double(host->w->counters.field);
	FG_L4_COUNTERS(COUNTER)
#undef COUNTER
	if (c == nullptr) {
		ADD_FAILURE() << name << ": there is no connection";
		return -1;
	}
	if (name == "acked")
		return double(c->acked);
	if (name == "state")
		return conn_of(c)->state;
	if (name == "cwnd")
		return conn_of(c)->cwnd;
	if (name == "ssthresh")
		return conn_of(c)->ssthresh;
	if (name == "mss")
		return conn_of(c)->mss;
	if (name == "rto")
		return conn_of(c)->rto / 1000;
	ADD_FAILURE() << name << " is nothing that can be expected";
	return -1;
}

void
Script::Expect(std::istringstream &in)
{
	static const char *const states[] = {"CLOSED",     "SYN_SENT",   "SYN_RECEIVED", "ESTABLISHED",
					     "FIN_WAIT_1", "FIN_WAIT_2", "CLOSE_WAIT",   "CLOSING",
					     "LAST_ACK",   "TIME_WAIT"};
	std::string name, value;

	in >> name >> value;
	for (unsigned i = 0; i < std::size(states); i++)
		if (value == states[i])
			value = std::to_string(i);
	EXPECT_EQ(std::stod(value), Value(name)) << name;
}

void
Script::Peer(std::istringstream &in)
{
	std::string flags, where;
	uint32_t from, to;
	Frame tcp_octets;

	in >> flags >> where;
	numbers(where, &from, &to);
	Extras e(in);
	fg_flow f = host->Flow(e.value.count("from") ? uint16_t(e.value["from"]) : 40000);

	if (e.value.count("to"))
		f.local_port = uint16_t(e.value["to"]);
	if (e.echo)
		e.tsecr = our_ts - offset_of(host->w, f) - uint32_t(epoch_s * 1000);
	put(&tcp_octets, f.remote_port, 2);
	put(&tcp_octets, f.local_port, 2);
	put(&tcp_octets, peer_isn + from, 4);
	put(&tcp_octets, e.value.count("ack") ? our_isn + e.value["ack"] : 0, 4);
	put(&tcp_octets, flags_of(flags), 2);
	put(&tcp_octets, e.value.count("win") ? e.value["win"] : 65535, 2);
	put(&tcp_octets, 0, 4);
	put_options(&tcp_octets, e, offset_of(host->w, f), our_isn);
	tcp_octets[12] = uint8_t(tcp_octets.size() / 4 << 4);
	/* the SYN has number 0, the stream begins at 1; a FIN takes the last number */
	uint32_t length = to - from - !!(flags_of(flags) & TCP_SYN && to > from);
	size_t at = tcp_octets.size();
	tcp_octets.resize(at + length);
	payload_fill(host->client ? server_stream : client_stream, from - 1, tcp_octets.data() + at, length);
	Frame frame = packet(*host, 6, uint8_t(e.value["ecn"]), tcp_octets);
	if (e.bad)
		frame.back() ^= 1;
	for (uint32_t i = 0; i < (e.value.count("times") ? e.value["times"] : 1); i++) {
		host->Input(frame, ns(now));
		host->Poll(ns(now));
	}
}

void
Script::Icmp(std::istringstream &in)
{
	uint32_t seq, size;
	Frame m, quoted;
	fg_flow f = host->Flow();

	in >> seq >> size;
	put(&quoted, f.local_port, 2);
	put(&quoted, f.remote_port, 2);
	put(&quoted, our_isn + seq, 4);
	quoted.resize(quoted.size() + 12);
	put(&m, ipv6 ? 0x0200 : 0x0304, 2);
	put(&m, 0, 2);
	put(&m, size, 4);
	/* a packet of ours, as the router saw it: addresses are all that is looked at */
	Host mirrored(!host->client, tcp, mtu);
	mirrored.SetAddress(ipv6);
	Frame inner = packet(mirrored, 6, 0, quoted);
	m.insert(m.end(), inner.begin() + 14, inner.end());
	host->Input(packet(*host, ipv6 ? 58 : 1, 0, m), ns(now));
	host->Poll(ns(now));
}

std::string
Script::Read(const Frame &frame, segment *s)
{
	fg_l4_counters errors = {};
	const fg_arrival in = {frame.data(), frame.size(), 0, false};

	if (!segment_read(&in, s, &errors) || s->protocol != 6)
		return "not a good TCP segment";
	if (s->flags & TCP_SYN) {
		our_isn = s->seq;
		knows_isn = true;
	}
	return "";
}

std::string
Script::Describe(const Frame &frame)
{
	std::ostringstream text;
	segment s;
	std::string bad = Read(frame, &s);

	if (!bad.empty())
		return bad;
	for (const char *p = "FSRPA-EW"; *p; p++)
		if (*p != '-' && s.flags & 1 << (p - "FSRPA-EW"))
			text << *p;
	text << " " << s.seq - our_isn << ":" << s.seq - our_isn + s.length << " ack " << s.ack - peer_isn
	     << " win " << s.window;
	if (s.has_ts)
		text << " ts " << s.tsval - offset_of(host->w, s) - uint32_t(epoch_s * 1000) << " "
		     << s.tsecr;
	for (unsigned i = 0; i < s.sacks; i++)
		text << " sack " << s.sack[i].from - peer_isn << ":" << s.sack[i].to - peer_isn;
	return text.str();
}

void
Script::Ours(std::istringstream &in)
{
	std::string flags, where;
	uint32_t from, to;
	segment s;

	in >> flags >> where;
	numbers(where, &from, &to);
	Extras e(in);
	ASSERT_FALSE(out.empty()) << "nothing was sent";
	Out o = out.front();

	out.pop_front();
	ASSERT_EQ("", Read(o.frame, &s));
	SCOPED_TRACE("sent at " + std::to_string(o.at) + ": " + Describe(o.frame));
	EXPECT_NEAR(now, o.at, 1e-3);
	EXPECT_EQ(flags_of(flags) & ~TCP_PSH, s.flags & ~TCP_PSH);
	EXPECT_EQ(from, s.flags & TCP_RST && !knows_isn ? s.seq : s.seq - our_isn);
	EXPECT_EQ(to - from, s.length);
	if (e.value.count("ack")) {
		EXPECT_EQ(e.value["ack"], s.ack - peer_isn);
	}
	if (e.value.count("win")) {
		EXPECT_EQ(e.value["win"], s.window);
	}
	if (e.value.count("ecn")) {
		EXPECT_EQ(e.value["ecn"], s.ecn);
	}
	if (e.value.count("mss")) {
		EXPECT_EQ(e.value["mss"], s.mss);
	}
	if (e.value.count("scale")) {
		EXPECT_TRUE(s.has_scale);
		EXPECT_EQ(e.value["scale"], s.scale);
	}
	our_ts = s.has_ts ? s.tsval : 0;
	if (e.has_ts) {
		EXPECT_NEAR(e.tsval, double(s.tsval - offset_of(host->w, s) - uint32_t(epoch_s * 1000)), 1);
		EXPECT_EQ(e.tsecr, s.tsecr);
	}
	EXPECT_TRUE(!e.sackok || s.sack_permitted);
	/* an option that was not agreed on must not be there; what was may go without saying */
	EXPECT_EQ(e.sack.size(), s.sacks);
	for (size_t i = 0; i < e.sack.size() && i < s.sacks; i++) {
		EXPECT_EQ(e.sack[i].from, s.sack[i].from - peer_isn);
		EXPECT_EQ(e.sack[i].to, s.sack[i].to - peer_isn);
	}
	uint32_t wrong = s.length == 0 ? 0
				       : payload_wrong(host->client ? client_stream : server_stream, from - 1,
						       s.payload, s.length);
	EXPECT_EQ(0u, wrong);
}

void
Script::Line(const std::string &text)
{
	std::istringstream in(text);
	std::string time, what;

	in >> time >> what;
	if (time == "set") {
		std::istringstream again(text.substr(4));

		Set(again);
		return;
	}
	listens = listens || what == "listen";
	Start();
	double to = time[0] == '+' ? now + std::stod(time.substr(1)) : std::stod(time);

	ASSERT_GE(to, now) << "time does not go back";
	if (what == ">") {
		/* a timer is late by part of a tick */
		Advance(to + (out.empty() ? 0.0005 : 0));
		now = to;
		Ours(in);
		return;
	}
	if (to > now || host->w->now < ns(to))
		Advance(std::max(to, double(host->w->now) / 1e9 - epoch_s));
	now = to;
	ASSERT_TRUE(out.empty()) << "unexpected at " << out.front().at << ": " << Describe(out.front().frame);
	if (what == "<")
		Peer(in);
	else if (what == "icmp")
		Icmp(in);
	else if (what == "expect")
		Expect(in);
	else
		Command(what, in);
}

void
Script::Run(const std::string &path)
{
	std::ifstream file(path);
	std::string line;
	unsigned number = 0;

	ASSERT_TRUE(file.good()) << path;
	fg_l4_tcp_defaults(&tcp);
	tcp.timestamps = tcp.window_scaling = false;
	tcp.congestion = FG_L4_NEWRENO;
	tcp.receive_buffer = 65535;
	while (std::getline(file, line) && !::testing::Test::HasFailure()) {
		number++;
		line = line.substr(0, line.find('#'));
		if (line.find_first_not_of(" \t") == std::string::npos)
			continue;
		SCOPED_TRACE(path + ":" + std::to_string(number) + ": " + line);
		Line(line);
	}
	if (!out.empty() && !::testing::Test::HasFailure())
		ADD_FAILURE() << path << ": sent after the end: " << Describe(out.front().frame);
}

} /* namespace l4 */
