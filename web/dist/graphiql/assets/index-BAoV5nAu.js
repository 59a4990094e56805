import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{c as t,d as n,h as r,hr as i,i as a,l as o,m as s,mr as c,n as l,p as u,r as d,s as f,t as p,u as m}from"./vendor-Cu5p3d-4.js";function ee(e){return new Worker(`/playground/assets/json.worker-ky6CAS4V.js`,{type:`module`,name:e?.name})}function h(e){return new Worker(`/playground/assets/editor.worker-DEFT_Yb2.js`,{type:`module`,name:e?.name})}function g(e){return new Worker(`/playground/assets/graphql.worker-CnQW6F4w.js`,{type:`module`,name:e?.name})}window.MonacoEnvironment={getWorker:(e,t)=>t===`json`?new ee:t===`graphql`?new g:new h};var te=a(),_=e(c(),1),v={answers:0,total:0},y=new Set;function b({result:e,...t}){let n=e.extensions?.cosmos,r=(e.errors??[]).map(e=>String(e.extensions?.code??``));v={last:{...t,codes:r,cosmos:n},answers:v.answers+1,total:v.total+(n?.requestCharge??0)};for(let e of y)e()}function x(e){return y.add(e),()=>y.delete(e)}var S=()=>(0,_.useSyncExternalStore)(x,()=>v),C=e=>`${e.toLocaleString(`en`,{maximumFractionDigits:2})} RU`,w=`cosmosblog.session`,T=new Set,E=JSON.parse(sessionStorage.getItem(w)??`null`)??void 0,D=()=>E;function O(e){E=e,e?sessionStorage.setItem(w,JSON.stringify(e)):sessionStorage.removeItem(w);for(let e of T)e()}function ne(e){return T.add(e),()=>T.delete(e)}var k=()=>(0,_.useSyncExternalStore)(ne,D),A=({token:e})=>`Bearer ${e}`;function j(){return{...E&&{authorization:A(E)},"x-cosmos-diagnostics":`1`}}async function M(e,t,n){let r=new Headers(t);return r.set(`accept`,`application/graphql-response+json, application/json`),r.set(`content-type`,`application/json`),fetch(e,{method:`POST`,headers:r,body:JSON.stringify(n)})}async function N(e,t={}){let n=D(),r=new Headers(j());for(let[e,n]of Object.entries(t))r.set(e,String(n));let i=await M(`/graphql`,r,e);return i.status!==401||!n||r.get(`authorization`)!==A(n)?i:(O(),N(e,t))}var P=async(e,t)=>{let n=performance.now(),i,a;try{i=await(await N({...e,operationName:re(e)},t?.headers)).text(),a=JSON.parse(i)}catch{return{errors:[new r(`The server does not answer. Is it still running?`)]}}return e.operationName!==`IntrospectionQuery`&&b({result:a,milliseconds:performance.now()-n,bytes:new Blob([i]).size}),a};function re({query:e,operationName:t}){try{let n=u(e).definitions.filter(e=>e.kind===s.OPERATION_DEFINITION).map(e=>e.name?.value);return n.length===1?n[0]:t}catch{return t}}async function F(e,t){let n=await(await N({query:e,variables:t})).json();if(n.errors?.[0])throw Error(n.errors[0].message);return n.data}async function ie(e){let t=await(await M(`/development/token`,{},{name:e})).json();if(!t.token)throw Error(t.errors?.[0]?.message??`This server signs nobody in by name.`);return t.token}async function ae(){let{viewer:e,feed:t}=await F(`{ viewer { id } feed(first: 20) { nodes { id commentCount likeCount author { id } } } }`,{}),n=e=>Math.min(e.commentCount,e.likeCount),r=t?.nodes.toSorted((e,t)=>n(t)-n(e))[0];return{postId:r?.id,userId:e?.id??r?.author.id}}var I=i();function L({className:e,children:t}){return(0,I.jsx)(`svg`,{className:e,viewBox:`0 0 24 24`,fill:`none`,stroke:`currentColor`,strokeWidth:`1.75`,strokeLinecap:`round`,strokeLinejoin:`round`,"aria-hidden":`true`,children:t})}var R=()=>(0,I.jsxs)(L,{className:`graphiql-toolbar-icon`,children:[(0,I.jsx)(`circle`,{cx:`8`,cy:`15`,r:`4.5`}),(0,I.jsx)(`path`,{d:`m11.5 11.5 8-8M16 7l3 3`})]}),z=()=>(0,I.jsxs)(L,{children:[(0,I.jsx)(`rect`,{x:`3.5`,y:`3.5`,width:`17`,height:`17`,rx:`3`}),(0,I.jsx)(`path`,{d:`m8 9 3 3-3 3M13.5 15H17`})]}),B={title:`Request charges`,icon:()=>(0,I.jsxs)(L,{children:[(0,I.jsx)(`path`,{d:`M4 17.5a9 9 0 1 1 16 0M12 14.5l4-5`}),(0,I.jsx)(`circle`,{cx:`12`,cy:`14.5`,r:`1.2`})]}),content:V};function V(){let{last:e,answers:t,total:n}=S(),r=e?.cosmos;return(0,I.jsxs)(`section`,{className:`charges`,"aria-labelledby":`charges`,children:[(0,I.jsx)(`h2`,{id:`charges`,className:`panel-title`,children:`Request charges`}),!e&&(0,I.jsx)(`p`,{className:`panel-text`,children:`Run an operation to see what it costs in request units (RU).`}),e&&!r&&(0,I.jsx)(`p`,{className:`panel-text`,children:`The last answer has no charges, because it was rejected before it was executed.`}),r&&(0,I.jsxs)(I.Fragment,{children:[(0,I.jsxs)(`dl`,{children:[(0,I.jsx)(H,{name:`RU charged`,value:String(r.requestCharge)}),(0,I.jsx)(H,{name:`RU estimated`,value:String(r.estimate)}),(0,I.jsx)(H,{name:`Requests`,value:String(r.requests.filter(e=>!e.cached).length)})]}),(0,I.jsx)(`div`,{className:`scroll`,tabIndex:0,role:`region`,"aria-label":`Requests to Cosmos DB`,children:(0,I.jsxs)(`table`,{children:[(0,I.jsx)(`thead`,{children:(0,I.jsxs)(`tr`,{children:[(0,I.jsx)(`th`,{scope:`col`,children:`Field and request`}),(0,I.jsx)(`th`,{scope:`col`,className:`number`,children:`RU`})]})}),(0,I.jsx)(`tbody`,{children:r.requests.map((e,t)=>(0,I.jsx)(U,{sent:e},t))})]})}),r.requests.some(e=>e.cached)&&(0,I.jsx)(`p`,{className:`panel-text`,children:`A cached read cost nothing, because nothing was written to its partition since it was last read.`})]}),t>0&&(0,I.jsxs)(`p`,{className:`panel-text`,children:[C(n),` in `,t,` `,t===1?`answer`:`answers`,` since this page was loaded.`]})]})}var H=({name:e,value:t})=>(0,I.jsxs)(`div`,{children:[(0,I.jsx)(`dt`,{children:e}),(0,I.jsx)(`dd`,{children:t})]});function U({sent:e}){let t=[e.partitionKey].flat();return(0,I.jsxs)(`tr`,{children:[(0,I.jsxs)(`td`,{children:[(0,I.jsx)(`code`,{children:e.path.join(`.`)||`–`}),(0,I.jsx)(`br`,{}),e.operation,` in `,(0,I.jsx)(`strong`,{children:e.container}),e.status>=400&&`, status ${e.status}`,(0,I.jsx)(`br`,{}),(0,I.jsx)(`code`,{className:`key`,title:t.join(`, `),children:t.length>1?`${t.length} partitions`:t[0]})]}),(0,I.jsx)(`td`,{className:`number`,children:e.cached?`cached`:e.requestCharge.toFixed(2)})]})}var W=Object.assign({"./examples/comments.graphql":`# Q4: a post’s comments. One query
# in one partition, and a point
# read that checks the post.
query Comments($postId: ID!) {
  post(id: $postId) {
    title
    comments(first: 20, order: NEWEST_FIRST) {
      totalCount
      nodes {
        id
        content
        author {
          username
        }
        creationDate
      }
    }
  }
}
`,"./examples/create-comment.graphql":`# C3: comment on a post. A stored
# procedure also counts the comment.
mutation CreateComment($postId: ID!, $content: String!) {
  createComment(input: { postId: $postId, content: $content }) {
    comment {
      id
      content
    }
    post {
      id
      commentCount
    }
  }
}
`,"./examples/create-post.graphql":`# C2: publish a post. Its copies
# in lists follow within moments.
mutation CreatePost($title: String!, $content: String!) {
  createPost(input: { title: $title, content: $content }) {
    post {
      id
      title
      version
    }
  }
}
`,"./examples/create-user.graphql":`# C1: create a user. To sign in,
# use the key in the toolbar.
mutation CreateUser($username: String!) {
  createUser(input: { username: $username }) {
    user {
      id
      username
      creationDate
    }
  }
}
`,"./examples/feed.graphql":`# Q6: the most recent posts.
# One query in one partition.
query Feed {
  feed(first: 20) {
    nodes {
      id
      title
      excerpt
      author {
        id
        username
      }
      commentCount
      likeCount
      creationDate
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`,"./examples/like-post.graphql":`# C4: like a post. A stored
# procedure also counts the like.
mutation LikePost($postId: ID!) {
  likePost(input: { postId: $postId }) {
    like {
      id
    }
    post {
      id
      likeCount
      viewerHasLiked
    }
  }
}
`,"./examples/likes.graphql":`# Q5: a post’s likes. One query
# in one partition, and a point
# read that checks the post.
query Likes($postId: ID!) {
  post(id: $postId) {
    title
    likes(first: 20) {
      totalCount
      nodes {
        id
        user {
          username
        }
        creationDate
      }
    }
  }
}
`,"./examples/post.graphql":`# Q2: a post with its author’s
# name and counts. One point read.
query Post($postId: ID!) {
  post(id: $postId) {
    id
    title
    content
    author {
      id
      username
    }
    commentCount
    likeCount
    creationDate
  }
}
`,"./examples/user-posts.graphql":`# Q3: a user’s posts. One query in
# one partition, and a point read
# that checks the user.
query UserPosts($userId: ID!) {
  user(id: $userId) {
    username
    posts(first: 20) {
      nodes {
        id
        title
        excerpt
        commentCount
        likeCount
        creationDate
      }
    }
  }
}
`,"./examples/user.graphql":`# Q1: a user. One point read.
query User($userId: ID!) {
  user(id: $userId) {
    id
    username
    creationDate
    postCount
  }
}
`}),G=(e,t,n,r,i)=>({code:e,title:t,articleRU:n,query:W[`./examples/${r}.graphql`],variables:i?K(i):``}),K=e=>JSON.stringify(e,null,2),q=[G(`Q6`,`Recent posts`,16.97,`feed`),G(`C1`,`Create a user`,5.71,`create-user`,{username:``}),G(`Q1`,`A user`,1,`user`,{userId:``}),G(`C2`,`Publish a post`,8.76,`create-post`,{title:`One partition is enough`,content:`Every list of this blog is one query in one partition.`}),G(`Q2`,`A post`,1,`post`,{postId:``}),G(`Q3`,`A user’s posts`,6.46,`user-posts`,{userId:``}),G(`C3`,`Comment on a post`,15.27,`create-comment`,{postId:``,content:`Well said.`}),G(`Q4`,`A post’s comments`,7.72,`comments`,{postId:``}),G(`C4`,`Like a post`,14.67,`like-post`,{postId:``}),G(`Q5`,`A post’s likes`,8.92,`likes`,{postId:``})];function J(e){let t=Y(e);return[`postId`,`userId`,`username`].filter(e=>t?.[e]===``)}function oe(e,t){let n=Y(e);if(!n)return e;for(let r of J(e))n[r]=t[r]??``;return K(n)}function Y(e){try{let t=JSON.parse(e);return typeof t==`object`&&t?t:void 0}catch{return}}var X=()=>matchMedia(`(max-width: 48rem)`).matches,Z={title:`Examples`,icon:z,content:se};function se(){let{addTab:e,changeTab:t,setVisiblePlugin:r}=n(),i=m(e=>e.tabs),a=m(e=>e.activeTabIndex),o=m(e=>e.queryEditor),s=m(e=>e.variableEditor),c=({query:e})=>i.findIndex(t=>t.query===e),l=n=>{let i=c(n);i<0?e():i!==a&&t(i),o?.setValue(n.query),s?.setValue(n.variables),X()&&r(null)};return(0,I.jsxs)(`section`,{className:`examples`,"aria-labelledby":`examples`,children:[(0,I.jsx)(`h2`,{id:`examples`,className:`panel-title`,children:`Examples`}),(0,I.jsxs)(`p`,{className:`panel-text`,children:[`The ten operations of the article that this blog implements. C are commands and need a`,` `,(0,I.jsx)(`span`,{className:`nowrap`,children:`sign-in`}),`, Q are queries. The charge is what the article measured.`]}),(0,I.jsx)(`ol`,{children:q.map(e=>(0,I.jsx)(`li`,{children:(0,I.jsxs)(`button`,{type:`button`,onClick:()=>l(e),"aria-current":c(e)===a?`true`:void 0,children:[(0,I.jsx)(`span`,{className:`code`,children:e.code}),(0,I.jsx)(`span`,{className:`title`,children:e.title}),(0,I.jsx)(`span`,{className:`charge`,children:C(e.articleRU)})]})},e.code))}),(0,I.jsxs)(`p`,{className:`panel-text`,children:[`An empty blog has nothing to read: sign in, and begin with C1. `,(0,I.jsx)(`code`,{children:`cosmosblog seed --users 20`}),` writes sample data.`]})]})}var ce=e(o(),1);function le(){let e=k(),[t,n]=(0,_.useState)(!1);return fe(()=>n(!0)),(0,I.jsxs)(I.Fragment,{children:[(0,I.jsx)(f,{label:e?`Signed in as ${e.name}`:`Sign in with a development token`,className:e&&`signed-in`,onClick:()=>n(!0),children:(0,I.jsx)(R,{})}),(0,I.jsxs)(d,{open:t,onOpenChange:n,children:[(0,I.jsxs)(`div`,{className:`graphiql-dialog-header`,children:[(0,I.jsx)(d.Title,{className:`graphiql-dialog-title`,children:`Sign in`}),(0,I.jsx)(d.Close,{})]}),(0,I.jsx)(ue,{onDone:()=>n(!1)})]})]})}function ue({onDone:e}){let n=k(),r=(0,_.useId)(),[i,a]=(0,_.useState)(n?.name??`anna`),[o,s]=(0,_.useState)(``);return(0,I.jsxs)(`form`,{className:`sign-in`,onSubmit:async t=>{t.preventDefault();try{O({name:i,token:await ie(i)}),e()}catch(e){s(e.message)}},children:[(0,I.jsx)(d.Description,{children:`In development, the server signs in any name. The token goes with the operations of all tabs, unless a tab’s headers have another.`}),(0,I.jsx)(`label`,{htmlFor:r,children:`Name`}),(0,I.jsx)(`input`,{id:r,value:i,onChange:e=>a(e.target.value),required:!0,autoFocus:!0,maxLength:255,autoComplete:`username`,spellCheck:!1,"aria-invalid":o!==``,"aria-describedby":`${r}-fault`}),(0,I.jsx)(`p`,{id:`${r}-fault`,className:`fault`,role:`alert`,children:o}),(0,I.jsxs)(`div`,{className:`buttons`,children:[n&&(0,I.jsx)(t,{type:`button`,onClick:()=>(O(),e()),children:`Sign out`}),(0,I.jsx)(t,{type:`submit`,className:`primary`,children:`Sign in`})]})]})}var Q=new EventTarget,de=()=>Q.dispatchEvent(new Event(`sign-in`));function fe(e){(0,_.useEffect)(()=>(Q.addEventListener(`sign-in`,e),()=>Q.removeEventListener(`sign-in`,e)),[e])}var $=e=>e.tabs[e.activeTabIndex]?.id;function pe(){me();let e=m($);(0,_.useEffect)(()=>{document.querySelector(`.graphiql-tab-active`)?.scrollIntoView({block:`nearest`,inline:`nearest`})},[e])}function me(){let e=k(),t=m(e=>e.variableEditor),n=m($),r=m(e=>e.isFetching),i=m(e=>e.tabs[e.activeTabIndex]?.query);(0,_.useEffect)(()=>{let n=t?.getValue()??``,i=J(n);if(!t||r||i.length===0)return;let a=!0;return(i.some(e=>e!==`username`)?ae():Promise.resolve({})).then(r=>{let i=oe(n,{...r,username:e?.name});a&&t.getValue()===n&&i!==n&&t.setValue(i)},()=>{}),()=>{a=!1}},[e,t,n,r,i])}function he(){pe();let e=ge(),{last:n}=S();return n?(0,I.jsxs)(`div`,{className:`footer`,role:`status`,children:[n.cosmos&&(0,I.jsx)(t,{type:`button`,className:`total`,onClick:e,children:C(n.cosmos.requestCharge)}),n.cosmos&&(0,I.jsx)(`span`,{children:_e(n.cosmos.requests)}),(0,I.jsxs)(`span`,{children:[Math.round(n.milliseconds),` ms`]}),(0,I.jsx)(`span`,{children:ve(n.bytes)}),(0,I.jsx)(ye,{codes:n.codes})]}):(0,I.jsx)(`p`,{className:`footer`,children:`The charge of each answer is shown here.`})}function ge(){let{setVisiblePlugin:e}=n();return()=>{(0,ce.flushSync)(()=>e(null)),document.querySelector(`[aria-label="Show ${B.title}"]`).click()}}function _e(e){let t=e.filter(e=>!e.cached).length,n=e.length-t;if(n>0&&t===0)return`${n} cached`;let r=`${t} ${t===1?`request`:`requests`}`;return n>0?`${r}, ${n} cached`:r}var ve=e=>e<1e3?`${e} bytes`:`${(e/1e3).toFixed(1)} kB`;function ye({codes:e}){let r=k(),{run:i}=n(),[a,o]=(0,_.useState)(``);return e.includes(`UNAUTHENTICATED`)?(0,I.jsx)(t,{type:`button`,className:`next`,onClick:de,children:`Sign in`}):!e.includes(`USER_REQUIRED`)||!r?null:(0,I.jsxs)(I.Fragment,{children:[(0,I.jsxs)(t,{type:`button`,className:`next`,onClick:async()=>{try{await F(`mutation ($username: String!) { createUser(input: { username: $username }) { user { id } } }`,{username:r.name}),i()}catch(e){o(e.message)}},children:[`Create the user `,r.name]}),a&&(0,I.jsx)(`span`,{className:`fault`,children:a})]})}var be=q.map(({query:e,variables:t})=>({query:e,variables:t})),xe=[l,Z,B];(0,te.createRoot)(document.getElementById(`root`)).render((0,I.jsxs)(I.Fragment,{children:[(0,I.jsx)(`h1`,{className:`hidden`,children:`GraphiQL of cosmosblog`}),(0,I.jsxs)(p,{fetcher:P,plugins:xe,visiblePlugin:X()?void 0:Z,defaultTabs:be,shouldPersistHeaders:!1,showPersistHeadersSettings:!1,defaultEditorToolsVisibility:`variables`,schemaDescription:!0,children:[(0,I.jsx)(p.Logo,{children:(0,I.jsxs)(`a`,{className:`logo`,href:`/`,children:[(0,I.jsx)(`img`,{src:`/playground/icon.svg`,alt:``,width:`22`,height:`22`}),`cosmosblog`]})}),(0,I.jsx)(p.Toolbar,{children:({prettify:e,copy:t,merge:n})=>(0,I.jsxs)(I.Fragment,{children:[(0,I.jsx)(le,{}),e,n,t]})}),(0,I.jsx)(p.Footer,{children:(0,I.jsx)(he,{})})]})]}));