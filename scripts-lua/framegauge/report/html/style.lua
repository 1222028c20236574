-- SPDX-License-Identifier: BSD-3-Clause

--- The style sheet of the page: one for light screens, dark screens and paper.
--
-- Colours are variables, set once for light and again for dark; paper is always light. Every text colour has
-- a contrast of at least 4.5 to 1 on what it stands on (WCAG AA). On paper a row or a chart is never cut, and
-- a table that goes on has its head again; the trials, which need the room, lie across. On a screen a table
-- that goes on beyond it has a shadow there, and keeps its first column when it is scrolled.
return [[
:root{color-scheme:light dark;--page:#fff;--text:#1a2330;--muted:#55606e;--rule:#d5dbe3;--faint:#f4f6f9;
--accent:#0b5cab;--good:#14713d;--warning:#855000;--bad:#b3261e;--goodback:#e9f6ee;--warnback:#fdf4e2;
--badback:#fdeeec;--grid:#e3e8ee;--theory:#6b7684;--s1:#0b5cab;--s2:#c2410c;--s3:#14713d;--s4:#7b2fa8;
--s5:#b0146a;--s6:#6b5d00;--s7:#08727c;--s8:#6b4a36}
@media screen and (prefers-color-scheme:dark){:root{--page:#11161d;--text:#e3e8ef;--muted:#a5b0be;
--rule:#343d49;--faint:#1a212a;--accent:#72b5ff;--good:#62d192;--warning:#f1b450;--bad:#ff9087;
--goodback:#14271c;--warnback:#2b2413;--badback:#331c1a;--grid:#29313b;--theory:#97a3b1;--s1:#72b5ff;
--s2:#ffa066;--s3:#62d192;--s4:#cda3f5;--s5:#ff94c6;--s6:#dacb62;--s7:#55d3db;--s8:#d2b59f}}
*{box-sizing:border-box}
html{background:var(--page);color:var(--text);-webkit-text-size-adjust:100%;
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",Arial,sans-serif}
body{max-width:76rem;margin:0 auto;padding:2.5rem 1.5rem 4rem}
h1,h2,h3,p,figure,dl,dd,ul{margin:0}
h1{font-size:2.1rem;line-height:1.2;font-weight:650;letter-spacing:-.015em;overflow-wrap:anywhere}
h2{font-size:1.35rem;line-height:1.3;font-weight:650;letter-spacing:-.01em;margin:3rem 0 .75rem;
padding-top:1rem;border-top:1px solid var(--rule)}
h2 small{font-size:.85rem;font-weight:400;letter-spacing:0;color:var(--muted);margin-left:.6em}
h3{font-size:1rem;font-weight:650;margin:1.6rem 0 .4rem}
p,li{max-width:46rem}
p+p,section>ul{margin-top:.6rem}
ul{padding-left:1.2rem}
a{color:var(--accent)}
.eyebrow{color:var(--accent);font-size:.8rem;font-weight:650;letter-spacing:.09em;text-transform:uppercase;
margin-bottom:.4rem}
.logo{display:block;max-width:14rem;max-height:4rem;margin-bottom:1.5rem;padding:.3rem;background:#fff}
.lead{color:var(--muted);font-size:1.05rem;margin-top:.5rem;overflow-wrap:anywhere}
.verdictbox{margin-top:1.6rem;padding:1rem 1.2rem;border-left:5px solid;border-radius:0 6px 6px 0}
.verdictbox.good{border-color:var(--good);background:var(--goodback)}
.verdictbox.warning{border-color:var(--warning);background:var(--warnback)}
.verdictbox.bad{border-color:var(--bad);background:var(--badback)}
.verdictbox.idle{border-color:var(--rule)}
.verdictbox.sound{border-color:var(--accent);background:var(--faint)}
.verdictbox+.verdictbox{margin-top:.6rem}
.verdictbox strong{display:block;font-size:1.15rem;line-height:1.35}
.verdictbox.warning ul{columns:26rem;font-size:.9rem}
.verdictbox p{max-width:none}.verdictbox li{overflow-wrap:anywhere;max-width:none}
.verdictbox.good strong{color:var(--good)}.verdictbox.warning strong{color:var(--warning)}
.verdictbox.bad strong{color:var(--bad)}
.verdictbox ul{margin-top:.3rem}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:.8rem;margin-top:1.6rem}
.tiles div{border:1px solid var(--rule);border-radius:6px;padding:.8rem 1rem}
.tiles dt{font-size:.8rem;color:var(--muted)}
.tiles dd b{font-size:1.6rem;line-height:1.3;font-weight:650;letter-spacing:-.01em;
font-variant-numeric:tabular-nums}
.tiles dd b{white-space:nowrap}
.tiles dd small{display:block;color:var(--muted);font-size:.8rem}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,26rem),1fr));gap:0 2.5rem;
margin-top:1.6rem}
.facts .full{grid-column:1/-1;order:1}
.facts div{display:grid;grid-template-columns:8.5rem 1fr;gap:.8rem;padding:.3rem 0;
border-bottom:1px solid var(--rule);font-size:.9rem}
.facts dt{color:var(--muted)}.facts dd{overflow-wrap:anywhere}
.scroll{overflow-x:auto;margin-top:1.2rem}
@media screen{.scroll,figure{background:
linear-gradient(90deg,transparent,var(--page) 70%) right/3rem 100% no-repeat local,
linear-gradient(90deg,transparent,var(--rule)) right/.8rem 100% no-repeat}}
table{border-collapse:separate;border-spacing:0;width:100%;font-size:.85rem;line-height:1.35;
font-variant-numeric:tabular-nums}
caption{text-align:left;font-weight:650;padding-bottom:.4rem}
th,td{text-align:right;padding:.34rem .45rem;vertical-align:baseline;white-space:nowrap;font-weight:400}
th:first-child,td:first-child{padding-left:.3rem}
.left{text-align:left;padding-left:.9rem}
thead td{border-bottom:1.5px solid var(--text)}
thead th{font-weight:600;vertical-align:bottom;border-bottom:1.5px solid var(--text);white-space:normal}
tbody th,tbody td{border-bottom:1px solid var(--rule)}
.more>*{border-bottom:0}
tbody th{font-weight:600}
.unit{display:block;font-weight:400;font-size:.9em;color:var(--muted);white-space:nowrap}
.below td{text-align:left;white-space:normal;color:var(--muted);padding-top:0}
sup{line-height:1;font-weight:400;padding-left:.15em}.below sup{padding:0}
.small{font-size:.72rem}.small th,.small td{padding:.2rem .4rem}
.verdict{font-weight:600;white-space:nowrap}
.verdict::before{content:"";display:inline-block;width:.55em;height:.55em;border-radius:50%;
background:currentColor;margin-right:.4em}
.verdict.good{color:var(--good)}.verdict.warning{color:var(--warning)}.verdict.bad{color:var(--bad)}
.verdict.idle{color:var(--muted);font-weight:400}
.verdict.warning::before{border-radius:0}
.verdict.bad::before{border-radius:0;transform:rotate(45deg)}
.share svg{width:50px;height:8px;margin-left:.5rem}
.whole{fill:var(--grid)}.part{fill:var(--s1)}
figure{margin-top:1.2rem}
figure svg{display:block;width:100%;max-width:60rem;height:auto}
figcaption{color:var(--muted);font-size:.85rem;margin-top:.2rem;max-width:46rem}
svg text{font-size:12px;fill:var(--muted);font-variant-numeric:tabular-nums}
svg .label{fill:var(--text)}
.end{text-anchor:end}.middle{text-anchor:middle}
.grid{stroke:var(--grid)}.axis{stroke:var(--muted)}
.line,.whisker{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}
.mark{fill:currentColor;stroke:var(--page);stroke-width:1.2}
.bar{fill:currentColor}.band{fill:currentColor;opacity:.14;stroke:none}
.theory{color:var(--theory)}.line.theory{stroke-dasharray:5 4;stroke-width:1.6}
.moment{stroke:var(--text);stroke-width:1.2}.before{fill:var(--grid)}
.s1{color:var(--s1)}.s2{color:var(--s2)}.s3{color:var(--s3)}.s4{color:var(--s4)}
.s5{color:var(--s5)}.s6{color:var(--s6)}.s7{color:var(--s7)}.s8{color:var(--s8)}
.plan td:first-child,.plan th{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"Liberation Mono",monospace}
.plan th,.plan td{text-align:left;white-space:normal;padding:.16rem .6rem .16rem .3rem;font-size:.82rem;
overflow-wrap:anywhere}
.plan tbody th{white-space:pre;font-weight:400;width:1%}
.plan .group th{font-weight:650;padding-top:.5rem}
ul+p{margin-top:1rem}
.compact{font-size:.78rem}.compact th,.compact td{padding:.3rem .35rem}
.wrapped tbody th,.wrapped .left{white-space:normal}
.dense{font-size:.76rem}.dense.broad{font-size:.7rem}.dense th,.dense td{padding:.34rem .22rem}
.wide .dense th,.wide .dense td{padding:.2rem .12rem}.wide .dense .left{white-space:normal}
.dense .left{padding-left:.5rem}
.dense .share svg{width:30px;margin-left:.25rem}.scroll+p{margin-top:1rem}
.four{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,28rem),1fr));gap:0 1.5rem}
.four svg text{font-size:11px}.four .line.s2{stroke-dasharray:6 5}
.parties{display:grid;grid-template-columns:1fr 1fr;gap:2.5rem;margin-top:1.6rem}
.party p{margin-top:1.6rem;border-bottom:1px solid var(--text);color:var(--muted);font-size:.85rem}
footer{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--rule);color:var(--muted);font-size:.85rem}
@media screen{section:not(.wide){content-visibility:auto;contain-intrinsic-size:auto 40rem}
.wide .scroll{width:min(96vw,100rem);margin-left:calc(50% - min(48vw,50rem))}
.wide .scroll table{width:auto;margin:0 auto}
tbody th:first-child,thead th:first-child{position:sticky;left:0;background:var(--page)}}
@media (max-width:40rem){body{padding:1.2rem 1rem 3rem}h1{font-size:1.6rem}
.facts div{grid-template-columns:7rem 1fr}figure{overflow-x:auto}
.tiles{grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr))}.tiles div{padding:.6rem .7rem}
.tiles dd b{font-size:1.3rem;white-space:normal}
.below span{position:sticky;left:.3rem;display:inline-block;max-width:calc(100vw - 3rem)}
.wide .scroll{width:auto;margin-left:0}
figure svg{min-width:38rem}
.four figure svg{min-width:0}.four svg text{font-size:13px}}
@page{size:A4;margin:15mm 14mm 17mm;@bottom-right{content:counter(page) " / " counter(pages);
font:8pt sans-serif;color:#55606e}}
@page wide{size:A4 landscape;margin:13mm 12mm 15mm}
@media print{
html{font-size:9.5pt}body{max-width:none;padding:0}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}
h2{margin-top:1.6rem}h2,h3,caption,thead,section>p{break-after:avoid}
p,li{break-inside:avoid;max-width:none}
thead{display:table-header-group}
tr,figure,.short,.verdictbox,.tiles,.facts div,li{break-inside:avoid}
.scroll{overflow:visible}
figure svg{max-width:150mm}
table{font-size:7.8pt}th,td{padding:.22rem .35rem}td.left,th.left{white-space:normal}
.dense{font-size:6.6pt}.dense th,.dense td{padding:.18rem .2rem}
section:has(.broad){page:wide}
.facts{grid-template-columns:1fr 1fr}
.tiles{grid-template-columns:repeat(auto-fit,minmax(36mm,1fr))}.tiles dd b{font-size:1.35rem}
section:has(.sheet){break-before:page;break-after:page}.four figure svg{max-width:none}
.four{grid-template-columns:1fr 1fr}
.wide{page:wide;break-before:page}.wide h2{margin-top:0;border-top:0;padding-top:0}
.wide table{font-size:6.6pt}.wide th,.wide td{padding:.12rem .25rem}
.plan th,.plan td{font-size:7.5pt}
main:has(.wide)+footer{page:wide}
}
]]
