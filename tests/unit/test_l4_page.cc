// SPDX-License-Identifier: BSD-3-Clause
/*
 * Pages: what may be asked for when, and clients of HTTP/1.1, HTTP/2 and HTTP/3 that load them through a path
 * of 200 Mbit/s and 2 ms each way.
 */
#include "draws.h"
#include "l4_quic.h"

extern "C" {
#include "page_priv.h"
}

namespace
{
using l4::ms;
using l4::second;
using Objects = std::vector<fg_l4_object>;

const double rtt = 4 * ms;
const size_t HEADERS = 14 + 20 + 32; /* of a segment with time stamps */
/* a document, two objects that it names, and another one that one of these names */
const Objects small = {{5000, 0, 0}, {700, 1, 0}, {0, 1, 0}, {30000, 2, 0}};

fg_l4_page
Page(const Objects &objects, uint32_t connections = 6)
{
	return {objects.data(), uint32_t(objects.size()), connections};
}

/* a page as a client has it, without the client */
struct Alone {
	explicit Alone(const Objects &objects) : given(Page(objects))
	{
		w.stop_at = UINT64_MAX;
		a.config.page = &given;
		a.config.connections = 1;
		a.room = 64;
		a.first_octet = fg_histogram_create(3, second, nullptr);
		a.last_octet = fg_histogram_create(3, second, nullptr);
		EXPECT_EQ(0, page_create(&a, nullptr));
		number = page_begin(a.page, w.now = 1000);
		load = page_load_at(a.page, number);
	}
	~Alone()
	{
		page_free(&a);
		fg_histogram_free(a.first_octet);
		fg_histogram_free(a.last_octet);
	}
	struct page_look
	Look() const
	{
		return page_look(a.page, load, w.now);
	}
	void
	Ask(uint32_t object)
	{
		page_ask(a.page, load, object, w.now, 0);
	}
	void
	Over(uint32_t object, uint64_t now)
	{
		w.now = now;
		page_first(&w, &a, load, object);
		page_over(&w, &a, load, object);
	}

	fg_l4 w = {};
	application a = {};
	fg_l4_page given;
	uint32_t number;
	page_load *load;
};

struct Options {
	double loss = 0, reorder = 0, duplicate = 0;
	uint64_t seed = 1, stop = second;
	std::function<void(page *)> change; /* what the client loads, after it has read its list */
	std::function<bool(const std::string &payload)> passes; /* of segments to the client */
};

class Pair : public l4::Line
{
      public:
	Pair(const char *kind, const Objects &objects, const Options &o = {}, uint32_t connections = 6,
	     uint32_t pages = 1)
	    : Line(o.seed)
	{
		const fg_l4_page given = Page(objects, connections);
		fg_quic_config quic[2] = {l4::Quic(false), l4::Quic(true)};
		fg_l4_app client = l4::Client(kind);

		client.page = &given;
		client.path = "/";
		client.host = "fg.test";
		client.request = client.response = 0;
		client.connections = pages;
		client.tcp.nodelay = true;
		loss = o.loss;
		reorder = o.reorder;
		duplicate = o.duplicate;
		sees = [&o](unsigned from, uint64_t, std::vector<uint8_t> &frame) {
			return from == 0 || !o.passes || o.passes({frame.begin() + HEADERS, frame.end()});
		};
		fg_l4_app apps[2] = {client, l4::ServerOf(client)};
		for (unsigned i : {0, 1}) {
			quic[i].tls.alpn = "h3";
			apps[i].quic = strcmp(kind, "HTTP3") == 0 ? &quic[i] : nullptr;
			Create(i, apps[i], 8192, second + o.stop); /* each waits for a second when closed */
		}
		if (o.change)
			o.change(reinterpret_cast<application *>(l4[0]->app[0])->page);
		Run(second + o.stop + 600 * second);
		for (unsigned i : {0, 1}) {
			fg_l4_read(l4[i], 0, &result[i]);
			fg_l4_read_counters(l4[i], &counters[i]);
		}
		moments.resize(fg_l4_page_moments(l4[0], 0, nullptr, 0));
		fg_l4_page_moments(l4[0], 0, moments.data(), unsigned(moments.size()));
	}
	void
	ExpectNoFaults() const
	{
		for (unsigned i : {0, 1}) {
			EXPECT_EQ(0u, counters[i].wrong_octets) << i;
			EXPECT_EQ(0u, counters[i].table_full + counters[i].no_spans) << i;
			EXPECT_EQ(0u, fg_l4_open(l4[i])) << i;
		}
		EXPECT_EQ(result[0].total.opened, result[0].total.ended[FG_L4_END_CLOSED]);
		EXPECT_EQ(0u, result[0].total.refused);
		EXPECT_EQ(0u, result[0].page.failed);
	}
	/* all of the pages that came, and parts of those that the stop has cut off */
	void
	ExpectWhole(size_t objects, uint32_t pages) const
	{
		const uint64_t whole = Result().loaded * objects;

		EXPECT_LE(whole, result[0].total.transactions);
		EXPECT_GE(whole + pages * objects, result[0].total.transactions);
		EXPECT_EQ(result[0].total.transactions, result[1].total.transactions);
	}
	const fg_l4_page_result &
	Result() const
	{
		return result[0].page;
	}

	fg_l4_result result[2];
	fg_l4_counters counters[2];
	std::vector<fg_l4_moments> moments;
};

const char *const kinds[] = {"PAGE", "HTTP2", "HTTP3"};

std::string
Refused(const Objects &objects, uint32_t connections = 6)
{
	const fg_l4_page page = Page(objects, connections);
	fg_error err = {};

	return page_check(&page, &err) == 0 ? "" : err.message;
}
} /* namespace */

TEST(L4Page, AnObjectMayBeAskedForWhenWhatItWaitsForIsThere)
{
	Alone p(small);

	EXPECT_EQ(1u, p.Look().ready);
	EXPECT_EQ(0u, p.Look().first);
	p.Ask(0);
	EXPECT_EQ(0u, p.Look().ready);
	EXPECT_EQ(UINT64_MAX, p.Look().due);
	p.Over(0, 2000);
	EXPECT_EQ(2u, p.Look().ready);
	EXPECT_EQ(1u, p.Look().first);
	p.Ask(1);
	EXPECT_EQ(1u, p.Look().ready);
	EXPECT_EQ(2u, p.Look().first) << "in the order of the page";
	p.Over(1, 3000);
	EXPECT_EQ(2u, p.Look().ready);
	p.Ask(3);
	p.Ask(2);
	EXPECT_TRUE(page_has_asked_for_all(p.a.page, p.load));
	p.Over(3, 4000);
	EXPECT_FALSE(page_is_whole(p.a.page, p.load));
	p.Over(2, 5000);
	EXPECT_TRUE(page_is_whole(p.a.page, p.load));
	EXPECT_EQ(1u, p.a.page->loaded);
	EXPECT_EQ(1u, p.a.page->time->count);
	EXPECT_EQ(4000, fg_histogram_min(p.a.page->time)) << "since 1000";
	for (unsigned nth = 0; nth < 4; nth++)
		EXPECT_EQ("0132"[nth] - '0', p.load->object[nth].nth);
	page_end(&p.w, p.a.page, &p.number);
	EXPECT_EQ(0u, p.number);
	EXPECT_EQ(0u, p.a.page->failed);
}

TEST(L4Page, AnObjectWaitsForItsThinkTime)
{
	Alone p({{1, 0, 500}, {1, 1, 300}, {1, 1, 200}});

	EXPECT_EQ(0u, p.Look().ready);
	EXPECT_EQ(1500u, p.Look().due);
	p.w.now = 1500;
	EXPECT_EQ(1u, p.Look().ready);
	p.Ask(0);
	p.Over(0, 2000);
	EXPECT_EQ(2200u, p.Look().due) << "the earliest";
	p.w.now = 2250;
	EXPECT_EQ(2u, p.Look().first);
	EXPECT_EQ(2300u, p.Look().due);
	page_end(&p.w, p.a.page, &p.number);
	EXPECT_EQ(1u, p.a.page->failed) << "not whole";
}

TEST(L4Page, EachMomentIsOfOnePart)
{
	Alone p({{1, 0, 0}, {1, 1, 300}, {1, 1, 0}});
	const uint64_t *spent = p.a.page->spent;

	p.w.now = 1500; /* since 1000 it has waited for its connection */
	p.Ask(0);
	p.w.now = 1900;
	page_first(&p.w, &p.a, p.load, 0);
	p.Over(0, 2000);
	p.w.now = 2010; /* for another connection */
	p.Ask(2);
	p.Over(2, 2110);
	p.w.now = 2350; /* until 2300 it pauses */
	p.Ask(1);
	EXPECT_EQ(0u, spent[FG_L4_PAGE_SETUP]) << "not before it is whole";
	p.Over(1, 2400);
	EXPECT_EQ(500u + 10 + 50, spent[FG_L4_PAGE_SETUP]);
	EXPECT_EQ(400u + 100 + 50, spent[FG_L4_PAGE_WAITING]);
	EXPECT_EQ(100u, spent[FG_L4_PAGE_TRANSFER]);
	EXPECT_EQ(190u, spent[FG_L4_PAGE_THINK]);
}

TEST(L4Page, WhatIsNoPageIsRefused)
{
	EXPECT_EQ("", Refused(small));
	EXPECT_EQ("", Refused({{1, 0, 0}, {1, 3, 0}, {1, 0, 0}})) << "of one that stands behind it";
	EXPECT_NE(std::string::npos, Refused({}).find("a page of 0 objects"));
	EXPECT_NE(std::string::npos, Refused(Objects(501)).find("a page of 501 objects"));
	EXPECT_NE(std::string::npos, Refused({{1, 2, 0}, {1, 0, 0}}).find("the first object waits"));
	EXPECT_NE(std::string::npos,
		  Refused({{1, 0, 0}, {1, 3, 0}}).find("object 2 waits for object 3 of 2"));
	EXPECT_NE(std::string::npos, Refused({{1, 0, 0}, {1, 2, 0}}).find("object 2 waits for itself"));
	EXPECT_NE(std::string::npos,
		  Refused({{1, 0, 0}, {1, 4, 0}, {1, 2, 0}, {1, 3, 0}}).find("object 2 waits for itself"));
	EXPECT_NE(std::string::npos, Refused(small, 0).find("0 connections"));
	EXPECT_NE(std::string::npos, Refused(small, 33).find("33 connections"));
}

TEST(L4Page, EveryObjectComesAndIsCompared)
{
	for (const char *kind : kinds) {
		SCOPED_TRACE(kind);
		Pair pair(kind, small);
		pair.ExpectNoFaults();
		EXPECT_LT(20u, pair.Result().loaded);
		pair.ExpectWhole(small.size(), 1);
		EXPECT_LT(pair.Result().loaded * 35700, pair.result[0].total.octets_in);
		EXPECT_GT((pair.Result().loaded + 1) * 38000, pair.result[0].total.octets_in);
		EXPECT_NEAR(double(pair.Result().time.count), double(pair.result[0].first_octet.count), 1);
		EXPECT_EQ(4u, pair.moments.size());
	}
}

TEST(L4Page, AChainTakesARoundTripForEach)
{
	const Objects chain = {{100, 0, 0}, {100, 1, 0}, {100, 2, 10 * ms}, {100, 3, 0}, {100, 4, 0}};

	for (const char *kind : kinds) {
		SCOPED_TRACE(kind);
		Pair pair(kind, chain);
		pair.ExpectNoFaults();
		/* one for the connection; frames of QUIC's handshake take a tenth of one, timers a tick */
		EXPECT_NEAR(6 * rtt + 10 * ms, pair.Result().time.mean, 0.2 * rtt);
		EXPECT_NEAR(2 * rtt, pair.result[0].first_octet.mean, 0.1 * rtt);
		for (unsigned i = 0; i < 5; i++) {
			EXPECT_EQ(pair.moments[i].ready,
				  i == 0 ? 0 : pair.moments[i - 1].over + chain[i].think_ns);
			EXPECT_NEAR(rtt, double(pair.moments[i].over - pair.moments[i].asked), 0.1 * rtt);
		}
	}
}

TEST(L4Page, AFanTakesConnectionsOrStreams)
{
	Objects fan = {{100, 0, 0}};

	fan.resize(13, {100, 1, 0});
	for (const char *kind : {"HTTP2", "HTTP3"})
		EXPECT_NEAR(3 * rtt, Pair(kind, fan).Result().time.mean, 0.2 * rtt) << kind;
	/* the first one goes on with the connection of the document, while the others open theirs */
	for (unsigned connections : {1, 4, 6, 12}) {
		Pair pair("PAGE", fan, {}, connections);
		const std::map<unsigned, double> rounds = {{1, 14}, {4, 6}, {6, 5}, {12, 4}};
		unsigned most = 0;

		pair.ExpectNoFaults();
		EXPECT_NEAR(rounds.at(connections) * rtt, pair.Result().time.mean, 0.3 * rtt) << connections;
		for (const fg_l4_moments &m : pair.moments)
			most = std::max(most, m.connection);
		EXPECT_GE(connections, most);
		EXPECT_LE(connections > 6 ? 10 : connections, most);
	}
}

TEST(L4Page, ManyPagesAtATimeDoNotMix)
{
	for (const char *kind : kinds) {
		SCOPED_TRACE(kind);
		Pair pair(kind, small, {}, 3, 20);
		pair.ExpectNoFaults();
		EXPECT_LT(400u, pair.Result().loaded);
		pair.ExpectWhole(small.size(), 20);
	}
}

TEST(L4Page, PathsThatLoseLoseNoOctet)
{
	for (const char *kind : kinds) {
		for (uint64_t seed = 1; seed <= draws(30); seed++) {
			Options o;

			SCOPED_TRACE(std::string(kind) + " " + std::to_string(seed));
			o.seed = seed;
			o.loss = 0.03;
			o.reorder = 0.05;
			o.duplicate = 0.02;
			o.stop = 3 * second;
			Pair pair(kind, small, o, 3, 2);
			pair.ExpectNoFaults();
			pair.ExpectWhole(small.size(), 2);
			EXPECT_LT(2u, pair.Result().loaded);
		}
	}
}

/* data behind a head that is lost is kept, and need not come again */
TEST(L4Page, AHeadThatIsLostCostsItsSegmentAlone)
{
	unsigned heads = 0;
	Options o;

	o.passes = [&heads](const std::string &payload) {
		return payload.compare(0, 8, "HTTP/1.1") != 0 || ++heads != 2;
	};
	Pair pair("PAGE", {{1000, 0, 0}, {12000, 1, 0}}, o, 1);
	pair.ExpectNoFaults();
	EXPECT_LT(20u, pair.Result().loaded);
	EXPECT_GE(2u, pair.counters[1].segments_retransmitted)
		<< "it, and perhaps a probe of the end (RFC 8985)";
}

TEST(L4Page, APageWithAnObjectThatIsWrongHasFailed)
{
	for (const char *kind : kinds) {
		Options o;

		SCOPED_TRACE(kind);
		o.change = [](page *p) { p->object[1].octets++; };
		Pair pair(kind, small, o);
		EXPECT_EQ(0u, pair.Result().loaded);
		EXPECT_LT(10u, pair.Result().failed);
		EXPECT_EQ(0u, pair.Result().time.count);
		EXPECT_EQ(0u, pair.moments.size());
		/* the last one may have been cut off by the stop */
		EXPECT_NEAR(double(pair.Result().failed), double(pair.result[0].total.refused), 1);
		EXPECT_EQ(0u, fg_l4_open(pair.l4[0]));
	}
}
